import { type FSWatcher, watch } from 'node:fs';

/** Callers that wait for output look again after this at the latest: some file systems report no change, and watches run out. */
export const POLL_MS = 200;

export interface FolderWatch {
  /** Resolves at the next change since the last call, after `most_ms` without one, or when `signal` aborts: look again in any case. */
  changed(most_ms: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Watches one folder (or `only` one name in it), not what is below it. A folder that is renamed stays watched. */
export function watchFolder(folder: string, only?: string): FolderWatch {
  let dirty = false;
  let wake: (() => void) | undefined;
  const mark = (_event: string, name: string | null): void => {
    if (only !== undefined && name !== null && name !== only) return;
    dirty = true;
    wake?.();
  };
  const watcher = tryWatch(folder, mark);
  return {
    async changed(most_ms, signal) {
      if (!dirty && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(1, most_ms));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          signal?.addEventListener('abort', wake, { once: true });
        });
        if (wake) signal?.removeEventListener('abort', wake);
        wake = undefined;
      }
      dirty = false;
    },
    close: () => watcher?.close(),
  };
}

/** Without a watch (inotify limits, unsupported file system) the poll alone does it. */
function tryWatch(folder: string, onChange: (event: string, name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
