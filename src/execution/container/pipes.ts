import { execFile } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../kernel/errors.ts';

const NAMES = ['gate', 'word', 'life', 'out', 'err'] as const;
const MKFIFO_TIMEOUT_MS = 10_000;

/** Our ends of the pipes of one container. An engine passes on no descriptors, so they have names, in a folder that is mounted. */
export interface Pipes {
  readonly folder: string;
  /** To the gate. */
  readonly gate: Socket;
  /** What the container says. */
  readonly word: Socket;
  readonly stdout: number;
  readonly stderr: number;
  /** Nobody can open them by name any more. */
  unlink(): void;
  /** Ends the container if it still is, since it hears that nobody is here. */
  close(): void;
}

/** Each is open on our side before a container can be: none of its opens waits, and a supervisor that dies is an end of file. */
export async function makePipes(folder: string, stdin: 'closed' | Uint8Array): Promise<Pipes> {
  mkdirSync(folder, { mode: 0o711 });
  const at = (name: string): string => join(folder, name);
  const unlink = (): void => rmSync(folder, { recursive: true, force: true });
  const opened: number[] = [];
  const open = (name: (typeof NAMES)[number], flags: number): number => {
    const fd = openSync(at(name), flags | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    opened.push(fd);
    return fd;
  };
  try {
    // For all by their mode, since the run has another uid; the folder lies where nobody else gets to.
    await promisify(execFile)('mkfifo', ['-m', '666', '--', ...NAMES.map(at)], {
      timeout: MKFIFO_TIMEOUT_MS,
      env: { PATH: '/usr/bin:/bin' },
    });
    if (stdin !== 'closed') writeFileSync(at('in'), stdin, { mode: 0o644 });
    const gate = open('gate', constants.O_RDWR);
    const life = open('life', constants.O_RDWR);
    const word = open('word', constants.O_RDONLY);
    const stdout = open('out', constants.O_RDONLY);
    const stderr = open('err', constants.O_RDONLY);
    const gateStream = new Socket({ fd: gate, readable: false, writable: true });
    const wordStream = new Socket({ fd: word, readable: true, writable: false });
    // A container that ends early closes its side; the end is told by its words.
    gateStream.on('error', () => undefined);
    let closed = false;
    return {
      folder,
      gate: gateStream,
      word: wordStream,
      stdout,
      stderr,
      unlink,
      close() {
        if (closed) return;
        closed = true;
        gateStream.destroy();
        wordStream.destroy();
        closeSync(life);
        unlink();
      },
    };
  } catch (cause) {
    for (const fd of opened) closeSync(fd);
    unlink();
    throw new AppError('containment_unavailable', `The pipes of a container could not be made: ${String(cause)}`, {
      fix: 'Check that `mkfifo` (coreutils) is installed and that the disk of the Writ home has free space and allows named pipes.',
      cause,
    });
  }
}
