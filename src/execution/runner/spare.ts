import type { WorkspaceBind } from '../types.ts';
import type { RunnerClient } from './client.ts';

/** A spare that nobody has needed for so long ends. */
const IDLE_MS = 60_000;

export interface Spare {
  /** The one that waits, or a new one. */
  take(): RunnerClient;
  /** Makes the next one, unless one waits. For when nobody is waiting for anything: it costs as much as before, only earlier. */
  prepare(workspaces: readonly WorkspaceBind[]): void;
  close(): void;
}

/**
 * One runner that is started before it is needed: a background job gets a runner of its own, and most of the wait for it is a Node
 * process coming up and looking around. It ends unused after a minute, and with this process, since its channel ends then.
 */
export function createSpare(make: () => RunnerClient, idle_ms = IDLE_MS): Spare {
  let waiting: RunnerClient | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const release = (): RunnerClient | undefined => {
    const was = waiting;
    waiting = undefined;
    clearTimeout(timer);
    return was;
  };

  return {
    take() {
      const was = release();
      if (was?.usable()) return was;
      was?.disconnect();
      return make();
    },
    prepare(workspaces) {
      if (closed) return;
      if (!waiting?.usable()) {
        release()?.disconnect();
        waiting = make();
        waiting.tell({ type: 'warm', workspaces });
      }
      clearTimeout(timer);
      timer = setTimeout(() => release()?.disconnect(), idle_ms).unref();
    },
    close() {
      closed = true;
      release()?.disconnect();
    },
  };
}
