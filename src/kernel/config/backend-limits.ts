import type { Provenance } from './result.ts';
import type { Config, RunLimits } from './types.ts';

const GIB = 1024 ** 3;

/** What a container gets at the most when nobody has said anything about it. */
const CONTAINER: Partial<RunLimits> = { memory_bytes: 2 * GIB, pids: 512, cpus: 2 };

/** The limits of runs depend on what they run in, as far as they are defaults. */
export function limitsOfBackend({ sandbox }: Config, provenance: Provenance): RunLimits {
  if (sandbox.backend !== 'container') return sandbox.limits;
  const said = (name: string): boolean => provenance[`sandbox.limits.${name}`] !== undefined;
  const smaller = Object.entries(CONTAINER).filter(([name]) => !said(name));
  const limits: Record<string, number> = { ...sandbox.limits };
  for (const [name, most] of smaller) limits[name] = Math.min(limits[name] ?? most, most);
  return { ...sandbox.limits, ...limits };
}
