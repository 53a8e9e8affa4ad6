import { chownSync, closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { AppError } from '../../kernel/errors.ts';
import { type Capture, HEADROOM } from './capture.ts';
import type { PipeReader } from './reader.ts';
import { createTerminalInput } from './terminal-input.ts';

/** The two functions of the native part of @lydell/node-pty (version 1.1.0, pinned) that we use. */
interface Native {
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

export interface Terminal {
  /** The side of the sandbox, for its three standard streams. */
  readonly slave: number;
  attach(capture: Capture, buffer: Buffer, onChunk: (length: number) => void): PipeReader;
  write(bytes: Uint8Array): boolean;
  resize(cols: number, rows: number): void;
  /** The command has exited: its side ends for us too, after everything it wrote. */
  leave(): void;
  destroy(): void;
}

/**
 * A terminal whose far side we keep open ourselves until the command has exited, since the library's own way of ending loses what wasn't
 * read yet. Only the pair of descriptors comes from the library; starting the process in it stays in one place (sandbox.ts).
 *
 * The library leaves both descriptors open to later children of this process. What runs in a sandbox never has them: bubblewrap's init
 * and the launcher close everything they weren't given.
 */
export async function openTerminal(
  size: { readonly cols: number; readonly rows: number },
  owner: { readonly uid: number; readonly gid: number } | undefined,
): Promise<Terminal> {
  const native = await loadNative();
  const { master, slave, pty } = native.open(bounded(size.cols), bounded(size.rows));
  let stream: ReadStream | undefined;
  let slaveOpen = true;
  let masterOpen = true;
  let over = false;
  const input = createTerminalInput(master);
  const leave = (): void => {
    over = true;
    input.close();
    if (slaveOpen) closeSync(slave);
    slaveOpen = false;
  };
  const destroy = (): void => {
    leave();
    if (stream !== undefined) stream.destroy();
    else if (masterOpen) closeSync(master);
    masterOpen = false;
  };
  try {
    if (owner !== undefined) chownSync(pty, owner.uid, owner.gid);
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    slave,
    attach(capture, buffer, onChunk) {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream = new ReadStream(master, {
        onread: {
          buffer: buffer.subarray(HEADROOM),
          callback: (length) => {
            capture.chunk('stdout', buffer, length);
            onChunk(length);
            return true;
          },
        },
      });
      // EIO is how the last closing of the far side looks from here.
      for (const event of ['error', 'end', 'close']) stream.on(event, () => resolve());
      stream.resume();
      return { ended: promise, close: destroy };
    },
    write: (bytes) => !over && input.send(bytes),
    resize(cols, rows) {
      if (!over) native.resize(master, bounded(cols), bounded(rows));
    },
    leave,
    destroy,
  };
}

/** Absurd sizes make programs allocate absurd screens. */
function bounded(cells: number): number {
  return Number.isFinite(cells) ? Math.min(1000, Math.max(1, Math.trunc(cells))) : 80;
}

async function loadNative(): Promise<Native> {
  try {
    const { requireBinary } = await import('@lydell/node-pty/requireBinary.js');
    const native = requireBinary('pty.node');
    if (isNative(native)) return native;
  } catch (error) {
    throw new AppError(
      'containment_unavailable',
      `A terminal is not possible here: ${error instanceof Error ? error.message : String(error)}`,
      {
        fix: 'Install Writ with its optional dependencies (the package @lydell/node-pty), or run the command without a terminal.',
        cause: error,
      },
    );
  }
  throw new AppError('containment_unavailable', 'A terminal is not possible here: @lydell/node-pty is of another version than expected.', {
    fix: 'Install Writ again, or run the command without a terminal.',
  });
}

function isNative(native: unknown): native is Native {
  return typeof native === 'object' && native !== null && 'open' in native && 'resize' in native;
}
