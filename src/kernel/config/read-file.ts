import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

/** A configuration larger than this is refused, not cut. */
const MAX_CONFIG_BYTES = 1024 * 1024;

export type FileText =
  | { readonly state: 'text'; readonly text: string }
  | { readonly state: 'absent' }
  | { readonly state: 'refused'; readonly message: string; readonly fix: string };

/**
 * Reads one configuration file through one descriptor. A pipe in its place must not hang the start, a growing file must not fill
 * memory, and (operator) nobody else may be able to write it; (project) a link could point at a secret that an error text would quote.
 */
export function readConfigFile(path: string, trust: { readonly operator_uid: number } | 'project'): FileText {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (trust === 'project' ? constants.O_NOFOLLOW : 0);
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'ENOENT' && !isLink(path)) return { state: 'absent' };
    if (code === 'ELOOP') {
      return trust === 'project' && isLink(path)
        ? refused('is a symbolic link, which a project may not use', 'Replace it by a plain file.')
        : refused("can't be opened: its symbolic links go round in a circle", 'Remove the link, or put a plain file in its place.');
    }
    return refused(`can't be opened (${String(code)})`, 'Make it readable for this user, or remove it.');
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return refused('is not a plain file', 'Replace it by a plain file, or remove it.');
    if (trust !== 'project') {
      const { operator_uid } = trust;
      if (operator_uid >= 0 && stat.uid !== operator_uid && stat.uid !== 0) {
        return refused(`belongs to uid ${stat.uid}, not to uid ${operator_uid}`, 'Make it a file of this user.');
      }
      if ((stat.mode & 0o022) !== 0) return refused('can be written by other users', `Check its content, then: chmod 600 ${path}`);
    }
    const buffer = Buffer.alloc(MAX_CONFIG_BYTES + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < buffer.length; length += got) got = readSync(fd, buffer, length, buffer.length - length, null);
    if (length > MAX_CONFIG_BYTES) return refused(`is larger than ${MAX_CONFIG_BYTES} bytes`, 'Make it smaller.');
    // fatal: a rule with replaced characters would no longer match what its author meant.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length));
    return { state: 'text', text };
  } catch (thrown) {
    if (thrown instanceof TypeError) return refused('is not UTF-8 text', 'Save it as UTF-8.');
    return refused(`can't be read (${thrown instanceof Error ? thrown.message : String(thrown)})`, 'Make it readable, or remove it.');
  } finally {
    closeSync(fd);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    // The links above it, then.
    return false;
  }
}

function refused(message: string, fix: string): FileText {
  return { state: 'refused', message, fix };
}
