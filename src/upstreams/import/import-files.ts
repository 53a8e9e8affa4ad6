import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import { filesOf } from './places.ts';
import { type ForeignFile, readForeign } from './read-file.ts';
import { type TranslateParts, translate } from './translate.ts';
import { HOSTS, type Host, type Translated } from './types.ts';

/** Some programs keep whole histories beside their servers. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface ImportedFile {
  readonly path: string;
  readonly host: Host | undefined;
  readonly servers: readonly Translated[];
}

export interface ImportRead {
  readonly files: readonly ImportedFile[];
  /** Files that are there and can't be read, with why. */
  readonly unreadable: readonly { readonly path: string; readonly why: string }[];
}

/** The servers of a program, of a file, or of all programs that keep some here (`from` undefined). Nothing is written. */
export async function readImports(from: string | undefined, parts: Omit<TranslateParts, 'host'>): Promise<ImportRead> {
  const files: ImportedFile[] = [];
  const unreadable: { path: string; why: string }[] = [];
  for (const { path, host } of placesOf(from, parts.home)) {
    const text = textOf(path);
    if (text === undefined && host !== undefined) continue;
    const read: ForeignFile =
      text === undefined
        ? { ok: false, why: 'it does not exist' }
        : 'why' in text
          ? { ok: false, ...text }
          : await readForeign(path, text.text, host);
    // A program that keeps other things in the same file may have no servers.
    if (read.ok) files.push({ path, host: read.host, servers: read.servers.map((one) => translate(one, { ...parts, host: read.host })) });
    else if (!(host !== undefined && read.why === 'it has no servers')) unreadable.push({ path, why: read.why });
  }
  return { files, unreadable };
}

function placesOf(
  from: string | undefined,
  home: string | undefined,
): readonly { readonly path: string; readonly host: Host | undefined }[] {
  const host = HOSTS.find((one) => one === from);
  if (from !== undefined && host === undefined) return [{ path: from, host: undefined }];
  return (host === undefined ? HOSTS : [host]).flatMap((one) =>
    home === undefined ? [] : filesOf(one, home).map((path) => ({ path, host: one })),
  );
}

function textOf(path: string): { readonly text: string } | { readonly why: string } | undefined {
  let fd: number;
  try {
    // A pipe of that name is not waited for.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    return errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR' ? undefined : { why: `it can't be opened (${errnoOf(thrown)})` };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { why: 'it is no plain file' };
    if (stat.size > MAX_BYTES) return { why: `it has more than ${MAX_BYTES / 1024 ** 2} MiB` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(fd)) };
  } catch (thrown) {
    return { why: thrown instanceof TypeError ? 'it is not UTF-8 text' : `it can't be read (${errnoOf(thrown)})` };
  } finally {
    closeSync(fd);
  }
}
