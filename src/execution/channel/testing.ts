import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { systemClock } from '../../kernel/clock.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, LIMITS, makeBed } from '../containment/testing.ts';
import { selfIdentity } from '../jobs/running-processes.ts';
import type { Guard, GuardOptions } from '../network/guard.ts';
import type { Channel, ChannelSpec } from '../types.ts';
import { createChannels } from './connect.ts';

/** For the tests of this folder: real programs in real sandboxes, on a made-up machine. */
export interface Booth {
  readonly bed: Bed;
  /** `bash -c SCRIPT`, unless `argv` is given. */
  connect(script: string, more?: Partial<ChannelSpec>, signal?: AbortSignal): Promise<Channel>;
  /** Connects, waits for its end, and gives what it said. */
  hear(
    script: string,
    more?: Partial<ChannelSpec>,
  ): Promise<{ readonly out: string; readonly err: string; readonly code: number | undefined }>;
  close(): Promise<void>;
}

/** This very Node, wherever it lies. */
export const NODE = realpathSync(process.execPath);
export const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

export function makeBooth(options: { readonly makeGuard?: (options: GuardOptions) => Guard } = {}): Booth {
  const bed = makeBed();
  const channels = createChannels(bed.config, { clock: systemClock, logger: silentLogger, self: selfIdentity(), ...options });
  const connect: Booth['connect'] = (script, more = {}, signal = new AbortController().signal) =>
    channels.connect(
      {
        name: 'upstream:test',
        argv: ['bash', '-c', script],
        env: { PATH: `${dirname(NODE)}:${SYSTEM_PATH}` },
        roots: [],
        network: 'none',
        unix_sockets: [],
        limits: LIMITS,
        ...more,
      },
      signal,
    );
  return {
    bed,
    connect,
    async hear(script, more) {
      const channel = await connect(script, more);
      channel.stdin.end();
      const [out, err, end] = await Promise.all([textOf(channel.stdout), textOf(channel.stderr), channel.ended]);
      return { out, err, code: end.exit_code };
    },
    async close() {
      await channels.close();
      bed.remove();
    },
  };
}

export async function bytesOf(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function textOf(stream: Readable): Promise<string> {
  return (await bytesOf(stream)).toString('utf8');
}

/** Reads until this has come; what comes after it stays to be read. */
export function sees(stream: Readable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let seen = '';
  const look = (bytes: Buffer): void => {
    seen += bytes.toString('latin1');
    if (!seen.includes(text)) return;
    stream.off('data', look);
    stream.pause();
    resolve();
  };
  stream.on('data', look);
  stream.once('end', () => reject(new Error(`it ended with ${JSON.stringify(seen.slice(-500))} and never said ${text}`)));
  return promise;
}
