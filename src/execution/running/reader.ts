import { Socket } from 'node:net';
import { type Capture, HEADROOM, type StreamName } from './capture.ts';

/** What one read takes from a pipe: as much as it holds. */
export const READ_BYTES = 64 * 1024;

export interface PipeReader {
  readonly ended: Promise<void>;
  close(): void;
}

/** One buffer serves every pipe of the process: the bytes are taken out of it before the event loop can read again. */
export function createReadBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(HEADROOM + READ_BYTES);
}

/** Reads a pipe to its end, as fast as it comes, so that the writer is never blocked by us. Owns the descriptor. */
export function readPipe(fd: number, stream: StreamName, capture: Capture, buffer: Buffer, onChunk: (length: number) => void): PipeReader {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: buffer.subarray(HEADROOM),
      callback: (length) => {
        capture.chunk(stream, buffer, length);
        onChunk(length);
        return true;
      },
    },
  });
  socket.on('error', () => resolve());
  socket.on('end', () => resolve());
  socket.on('close', () => resolve());
  socket.resume();
  return {
    ended: promise,
    close: () => {
      socket.destroy();
    },
  };
}
