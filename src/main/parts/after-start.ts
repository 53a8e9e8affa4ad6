import { toAppError } from '../../kernel/errors.ts';
import { closeOrphans, type OrphanParts } from './close-orphans.ts';
import { recordJobEnds } from './job-ends.ts';
import { keepOldHeap, keepYoungHeap } from './young-heap.ts';

/** When the first answers are out. */
const AFTER_START_MS = 150;

/**
 * What is done off the start-up path: what the first command needs is loaded, what an earlier process left behind is closed in the record, and
 * from then on the ends of jobs are recorded. The function it returns ends that, with what is still to be recorded.
 */
export function afterStart(parts: OrphanParts, warmUp: () => void): () => Promise<void> {
  let stopRecording = (): Promise<void> => Promise.resolve();
  const timer = setTimeout(() => {
    keepYoungHeap();
    keepOldHeap();
    warmUp();
    closeOrphans(parts).catch((thrown: unknown) => parts.logger.warn('recovery failed', { reason: toAppError(thrown).message }));
    stopRecording = recordJobEnds(parts);
  }, AFTER_START_MS).unref();
  return () => {
    clearTimeout(timer);
    return stopRecording();
  };
}
