import type { Person } from '../containment/generated-files.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { type NetworkPlan, RESERVED_PORTS } from './inlets.ts';

/** Below this a run, which has no privileges, can't listen. */
const FIRST_FREE_PORT = 1024;

const isOpenable = (port: number): boolean => port >= FIRST_FREE_PORT && !RESERVED_PORTS.includes(port);

/** Registries of the person's own configuration, by the preset that means them. */
export interface OwnRegistries {
  readonly npm: readonly string[];
  readonly pypi: readonly string[];
  /** Whatever presets are opened. */
  readonly chosen?: readonly string[];
}

export function ownRegistries(person: Pick<Person, 'npm_registries' | 'pip_index'>): OwnRegistries {
  // With its port, where it has one: as the allow-list writes it.
  const hostOf = (url: string): readonly string[] => {
    const host = URL.parse(url)?.host ?? '';
    return host === '' ? [] : [host];
  };
  return {
    npm: [...new Set((person.npm_registries ?? []).flatMap(([, url]) => hostOf(url)))],
    pypi: person.pip_index === undefined ? [] : hostOf(person.pip_index),
  };
}

/** The network of a run; undefined: its own loopback is all there is. */
export function networkPlan(spec: RunSpec, config: Pick<ExecutionConfig, 'loopback'>, registries?: OwnRegistries): NetworkPlan | undefined {
  const ports = spec.ports ?? [];
  // A port that this run publishes is served inside, and can't lead outside as well.
  const loopback = (config.loopback ?? []).filter((port) => isOpenable(port) && !ports.includes(port));
  if (spec.network === undefined && ports.length === 0 && loopback.length === 0) return undefined;
  if (spec.network === undefined) return { loopback, ports };
  const own = ownOf(spec, registries);
  return { allow: { ...spec.network, ...(own.length === 0 ? {} : { own }) }, loopback, ports };
}

function ownOf({ network }: RunSpec, registries: OwnRegistries | undefined): readonly string[] {
  const presets = network?.presets ?? [];
  if (network === undefined) return [];
  return [
    ...(registries?.chosen ?? []),
    ...(presets.includes('npm') ? (registries?.npm ?? []) : []),
    ...(presets.includes('pypi') ? (registries?.pypi ?? []) : []),
  ];
}

export function networkNotes(spec: RunSpec, config: Pick<ExecutionConfig, 'loopback'>, registries?: OwnRegistries): readonly string[] {
  const closed = (config.loopback ?? []).filter((port) => !isOpenable(port));
  const { hosts = [], presets = [] } = spec.network ?? {};
  return [
    ...(closed.length === 0 ? [] : [`not opened inward, since a run can't listen there: port ${closed.join(', ')}`]),
    ...(spec.network === undefined
      ? []
      : [
          `network opened for this run: ${[...hosts, ...presets.map((one) => `the hosts of ${one}`), ...ownOf(spec, registries)].join(', ')}`,
        ]),
  ];
}
