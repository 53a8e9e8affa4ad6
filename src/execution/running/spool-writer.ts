import { closeSync, constants, openSync, statfsSync, writeSync } from 'node:fs';
import { encodeRecord, INDEX_FILE, KIND, type Kind, LOG_FILE, RECORD_BYTES } from './spool-format.ts';
import { incompleteTail } from './utf8-edge.ts';

/** The disk is asked for its free space once per this many spooled bytes. */
const FLOOR_CHECK_BYTES = 8 * 1024 * 1024;
/** Never less than this is left on the disk (or 5 % of it, if that is less). */
const FLOOR_BYTES = 256 * 1024 * 1024;
/** How stale the count of dropped bytes on disk may be while the run goes on. */
const DROPPED_STEP_BYTES = 1024 * 1024;

export interface SpoolWriter {
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void;
  /** Bytes that can be read back. */
  readonly spooled: number;
  readonly dropped: number;
  /** Why spooling stopped before the end, for a person. */
  readonly stopped: string | undefined;
  /** Says in the index that nothing more will come, and closes. */
  end(): void;
}

/**
 * Writes synchronously: memory stays flat without a queue, and a disk too slow for it slows the command down through its own pipe. The
 * first thing that forbids writing (quota, free-space floor, an error of the disk) ends the spooling for good, since a log with holes
 * couldn't be read by cursor; bytes after that are only counted. Files appear with the first byte.
 */
export function createSpoolWriter(folder: string, quota: number): SpoolWriter {
  let log: number | undefined;
  let index: number | undefined;
  let spooled = 0;
  let dropped = 0;
  let droppedOnDisk = 0;
  let stopped: string | undefined;
  let nextFloorCheck = 0;
  let records = 0;
  let lastKind: Kind | undefined;
  const record = Buffer.alloc(RECORD_BYTES);

  const open = (name: string): number =>
    openSync(`${folder}/${name}`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);

  const put = (kind: Kind, value: number): void => {
    if (index === undefined) index = open(INDEX_FILE);
    if (kind !== lastKind) records++;
    lastKind = kind;
    encodeRecord(kind, value, record);
    writeSync(index, record, 0, RECORD_BYTES, (records - 1) * RECORD_BYTES);
  };

  const stop = (reason: string): void => {
    stopped ??= reason;
  };

  const belowFloor = (): boolean => {
    const disk = statfsSync(folder);
    return disk.bavail * disk.bsize < Math.min(FLOOR_BYTES, disk.blocks * disk.bsize * 0.05);
  };

  const countDropped = (bytes: number): void => {
    dropped += bytes;
    if (dropped - droppedOnDisk < DROPPED_STEP_BYTES && droppedOnDisk > 0) return;
    try {
      put(KIND.dropped, dropped);
      droppedOnDisk = dropped;
    } catch (error) {
      stop(reasonOf(error));
    }
  };

  return {
    write(stream, bytes) {
      if (bytes.length === 0) return;
      let taken = bytes;
      if (stopped === undefined) {
        const room = quota - spooled - records * RECORD_BYTES;
        if (room < bytes.length) {
          const cut = bytes.subarray(0, Math.max(0, room));
          taken = cut.subarray(0, cut.length - incompleteTail(cut));
        }
        try {
          if (spooled >= nextFloorCheck) {
            nextFloorCheck = spooled + FLOOR_CHECK_BYTES;
            if (belowFloor()) stop('the disk that holds the Writ home is almost full');
          }
          if (stopped === undefined && taken.length > 0) {
            log ??= open(LOG_FILE);
            let done = 0;
            while (done < taken.length) done += writeSync(log, taken, done, taken.length - done, spooled + done);
            put(KIND[stream], spooled + taken.length);
            spooled += taken.length;
          } else {
            taken = bytes.subarray(0, 0);
          }
        } catch (error) {
          // Half-written bytes lie beyond the last record, where no reader looks.
          stop(reasonOf(error));
          taken = bytes.subarray(0, 0);
        }
        if (stopped === undefined && taken.length < bytes.length) stop(`the spool reached its limit of ${quota} bytes`);
      } else {
        taken = bytes.subarray(0, 0);
      }
      if (taken.length < bytes.length) countDropped(bytes.length - taken.length);
    },
    get spooled() {
      return spooled;
    },
    get dropped() {
      return dropped;
    },
    get stopped() {
      return stopped;
    },
    end() {
      try {
        if (index !== undefined) put(KIND.end, dropped);
      } catch (error) {
        stop(reasonOf(error));
      }
      if (log !== undefined) closeSync(log);
      if (index !== undefined) closeSync(index);
      log = undefined;
      index = undefined;
    },
  };
}

function reasonOf(error: unknown): string {
  return `the spool could not be written: ${error instanceof Error ? error.message : String(error)}`;
}
