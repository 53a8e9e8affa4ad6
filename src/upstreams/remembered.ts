import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { toAppError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import { readPlainFile } from '../kernel/plain-file.ts';
import type { UpstreamSettings } from './types.ts';

const FOLDER = 'upstreams';
/** A list that is longer is read anew at every start. */
const MAX_BYTES = 8 * 1024 * 1024;

const factsSchema = z.strictObject({
  version: z.literal(1),
  /** What it was that said this: digest of how it is reached. */
  server: z.string(),
  era: z.enum(['stateless', 'handshake']).exactOptional(),
  instructions: z.string().max(65_536).optional(),
  /** As they came; hardened and judged again whenever they are used. */
  tools: z.array(z.unknown()).max(10_000),
  /** It has never been ready in time. */
  late: z.literal(true).exactOptional(),
});

/** What an upstream said the last time, so that nobody has to wait for it to say it again. */
export type Facts = Pick<z.output<typeof factsSchema>, 'era' | 'tools' | 'late'> & { readonly instructions?: string | undefined };

/** `upstreams/NAME.json` in the Writ home, 0600. It is a copy of what can be asked for again: whatever is wrong with it, it is not there. */
export interface Remembered {
  read(settings: UpstreamSettings): Facts | undefined;
  /** Never rejects: what can't be kept is asked for the next time. */
  write(settings: UpstreamSettings, facts: Facts): Promise<void>;
}

export function createRemembered(home: string, logger: Logger): Remembered {
  const folder = join(home, FOLDER);
  const pathOf = (settings: UpstreamSettings): string => {
    const project = settings.project === undefined ? '' : `.${digest(settings.project).slice(0, 12)}`;
    return join(folder, `${settings.name}${project}.json`);
  };

  function textAt(path: string): string | undefined {
    const file = readPlainFile(path, MAX_BYTES);
    if (file.state === 'refused') logger.debug('what an upstream said can not be read', { path, reason: file.why });
    if (file.state !== 'read') return undefined;
    // Whoever else can write it could put words into the mouth of a server.
    const sound = (file.stat.mode & 0o022) === 0 && file.stat.uid === process.getuid?.();
    return sound ? file.bytes.toString('utf8') : undefined;
  }

  return {
    read(settings) {
      const text = textAt(pathOf(settings));
      const known = text === undefined ? undefined : parse(text);
      return known?.server === serverOf(settings) ? known : undefined;
    },
    async write(settings, { era, instructions, tools, late }) {
      const path = pathOf(settings);
      const text = JSON.stringify({
        version: 1,
        server: serverOf(settings),
        ...(era === undefined ? {} : { era }),
        ...(instructions === undefined ? {} : { instructions }),
        tools,
        ...(late === undefined ? {} : { late }),
      });
      if (Buffer.byteLength(text) > MAX_BYTES || text === textAt(path)) return;
      const draft = `${path}.${newId('art', Date.now())}.tmp`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
        await rename(draft, path);
      } catch (thrown) {
        logger.debug('what an upstream said can not be kept', { path, reason: toAppError(thrown).message });
        await rm(draft, { force: true }).catch(() => {});
      }
    },
  };
}

function parse(text: string): z.output<typeof factsSchema> | undefined {
  try {
    return factsSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function serverOf({ transport, roots, network }: UpstreamSettings): string {
  return digest(canonicalJson({ transport, roots, network }));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
