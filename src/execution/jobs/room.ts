import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import { admit, idsIn, removeDebris } from './admission.ts';
import type { ExecutionKind } from './layout.ts';
import type { Processes } from './processes.ts';
import { settle } from './settle.ts';

/**
 * Makes a folder under the bound of its kind. When every place is taken, those whose owner is gone are closed first and it is
 * tried once more.
 */
export async function withRoom(
  kind: ExecutionKind,
  parent: string,
  parts: { readonly processes: Processes; readonly clock: Clock },
  create: (admitted: (parent: string) => void) => string,
): Promise<string> {
  const attempt = (): string => {
    try {
      return create((where) => admit(kind, where));
    } catch (thrown) {
      throw toAppError(thrown);
    }
  };
  try {
    return attempt();
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'busy') throw thrown;
  }
  removeDebris(parent, parts.clock.now());
  const ids = kind === 'run' ? idsIn('run', parent) : idsIn('job', parent);
  for (const id of ids) await settle(join(parent, id), parts.processes, parts.clock.now());
  return attempt();
}
