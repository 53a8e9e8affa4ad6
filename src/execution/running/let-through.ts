import type { Clock } from '../../kernel/clock.ts';
import type { ExecId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../types.ts';
import { withdrawIdentity, writeIdentity } from './identity-file.ts';
import { dismiss, type NotPrepared, type Prepared } from './prepare.ts';
import { awaitStarted } from './sandbox.ts';

export interface Passage {
  readonly exec_id: ExecId;
  readonly command: string;
  readonly cwd: string;
  readonly folder: string;
  readonly durable: boolean;
  readonly supervisor: ProcessIdentity;
  readonly clock: Clock;
  /** One that waits already, if there is one. */
  readonly waiting: Prepared | undefined;
  readonly build: () => Promise<Prepared | NotPrepared>;
}

/**
 * The one place where user code is let loose: identity on disk, then the token, then the launcher's word that it goes. A waiting sandbox
 * that died before that word has run nothing and is replaced by a new one, once.
 */
export async function letThrough(passage: Passage): Promise<Prepared | NotPrepared> {
  if (passage.waiting !== undefined) {
    const outcome = await attempt(passage, passage.waiting, 1);
    if (!('reason' in outcome) || !outcome.teardown.verified) return outcome;
    withdrawIdentity(passage.folder);
  }
  const built = await passage.build();
  return 'reason' in built ? built : attempt(passage, built, passage.waiting === undefined ? 1 : 2);
}

async function attempt(passage: Passage, prepared: Prepared, generation: 1 | 2): Promise<Prepared | NotPrepared> {
  const { sandbox, group } = prepared;
  try {
    writeIdentity(
      passage.folder,
      {
        version: 1,
        exec_id: passage.exec_id,
        marker: sandbox.marker,
        supervisor: passage.supervisor,
        outer: sandbox.outer,
        init: sandbox.init,
        pid_namespace: sandbox.pid_namespace,
        cgroups: group?.paths ?? [],
        generation,
        at: passage.clock.now(),
      },
      passage.durable,
    );
  } catch (error) {
    await dismiss(prepared, passage.clock);
    throw error;
  }
  sandbox.open(passage);
  if (await awaitStarted(sandbox)) return prepared;
  const teardown = await dismiss(prepared, passage.clock);
  // It may have said its word in the moment in which it was ended for not saying it.
  if (await awaitStarted(sandbox))
    return { reason: 'its launcher took too long and was ended while it started the command', teardown: { ...teardown, verified: false } };
  return { reason: 'the sandbox ended before it took the command', teardown };
}
