import type { ExecutionConfig } from '../core-types.ts';
import { type Mount, within } from './mount.ts';

/** PATH and the tool chains behind it, as far as they may exist inside. */
export interface Toolchains {
  readonly mounts: readonly Mount[];
  readonly path: readonly string[];
  /** Inherited variables whose folder isn't there. */
  readonly dropped: ReadonlySet<string>;
  readonly notes: readonly string[];
}

const STANDARD = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export function gatherToolchains(config: ExecutionConfig): Toolchains {
  const entries = (config.host_env['PATH'] ?? '').split(':');
  const kept = entries.filter((entry) => STANDARD.includes(entry) || within(entry, '/opt'));
  return { mounts: [], path: [...new Set([...kept, ...STANDARD])], dropped: new Set(), notes: [] };
}
