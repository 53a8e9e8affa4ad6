import type { ExecutionConfig } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { type NetworkPlan, RESERVED_PORTS } from './inlets.ts';

/** Below this a run, which has no privileges, can't listen. */
const FIRST_FREE_PORT = 1024;

const isOpenable = (port: number): boolean => port >= FIRST_FREE_PORT && !RESERVED_PORTS.includes(port);

/** The network of a run; undefined: its own loopback is all there is. */
export function networkPlan(spec: RunSpec, config: Pick<ExecutionConfig, 'loopback'>): NetworkPlan | undefined {
  const ports = spec.ports ?? [];
  // A port that this run publishes is served inside, and can't lead outside as well.
  const loopback = (config.loopback ?? []).filter((port) => isOpenable(port) && !ports.includes(port));
  if (spec.network === undefined && ports.length === 0 && loopback.length === 0) return undefined;
  return { ...(spec.network === undefined ? {} : { allow: spec.network }), loopback, ports };
}

export function networkNotes(spec: RunSpec, config: Pick<ExecutionConfig, 'loopback'>): readonly string[] {
  const closed = (config.loopback ?? []).filter((port) => !isOpenable(port));
  const { hosts = [], presets = [] } = spec.network ?? {};
  return [
    ...(closed.length === 0 ? [] : [`not opened inward, since a run can't listen there: port ${closed.join(', ')}`]),
    ...(spec.network === undefined
      ? []
      : [`network opened for this run: ${[...hosts, ...presets.map((one) => `the hosts of ${one}`)].join(', ')}`]),
  ];
}
