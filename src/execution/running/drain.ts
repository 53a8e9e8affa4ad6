/** After the exit: how long a stream may stay silent, and how long and how much it may go on in all. */
const GRACE_MS = 250;
const CAP_MS = 2_000;
const CAP_BYTES = 64 * 1024 * 1024;

export interface Drain {
  /** Call for every chunk. */
  touch(length: number): void;
  /** Resolves at the end of the streams, when they stay silent, or at the cap; whichever comes first. */
  finished(ends: Promise<unknown>): Promise<void>;
}

/**
 * What lies in the pipes at the exit still has to be read, but somebody who holds them open may not keep the call: each chunk buys another
 * moment of patience, up to a limit in time and in bytes. With a PID namespace the holders die with the command and the end comes at once.
 */
export function createDrain(): Drain {
  let onChunk: ((length: number) => void) | undefined;
  return {
    touch: (length) => onChunk?.(length),
    async finished(ends) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let bytes = 0;
      let chunks = 0;
      // A process that got no processor for a while finds its timers due before it has looked into the pipes: what is in them is read
      // first (immediates run after the reads of the same round), and only silence after that is silence.
      const giveUp = (): void => {
        const before = chunks;
        setImmediate(() => {
          if (chunks === before) resolve();
        });
      };
      let silence = setTimeout(giveUp, GRACE_MS);
      const cap = setTimeout(() => setImmediate(resolve), CAP_MS);
      onChunk = (length) => {
        bytes += length;
        chunks += 1;
        clearTimeout(silence);
        if (bytes >= CAP_BYTES) resolve();
        else silence = setTimeout(giveUp, GRACE_MS);
      };
      await Promise.race([ends, promise]);
      clearTimeout(silence);
      clearTimeout(cap);
      onChunk = undefined;
    },
  };
}
