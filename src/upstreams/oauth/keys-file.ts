import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { AppError, errnoOf } from '../../kernel/errors.ts';

/** Folder of the home that key files stand in. */
const FOLDER = 'mcp_oauth';
const MAX_BYTES = 64 * 1024;
const OTHERS = 0o077;

/**
 * What Google calls client secrets: an object under `installed` or `web`. It is read below `mcp_oauth` of the home only, wherever links lead,
 * and only if nobody else may read it.
 */
export function readKeysFile(home: string, name: string): { readonly client_id: string; readonly client_secret: string } {
  const folder = join(home, FOLDER);
  const path = resolve(folder, name);
  const bytes = read(folder, path);
  try {
    const { installed, web } = JSON.parse(bytes) as Record<string, { client_id?: unknown; client_secret?: unknown } | undefined>;
    const { client_id, client_secret } = installed ?? web ?? {};
    if (typeof client_id === 'string' && typeof client_secret === 'string') return { client_id, client_secret };
  } catch {
    // Said below: it isn't what it should be, whatever it is.
  }
  throw wrong(path, 'it holds no client_id and client_secret under "installed" or "web"', 'Download it again from the Google console.');
}

function read(folder: string, path: string): string {
  let fd: number | undefined;
  try {
    const [inside, real] = [realpathSync(folder), realpathSync(path)];
    if (!real.startsWith(inside + sep)) throw wrong(path, `it lies outside of ${folder}`, 'Put the file itself there.');
    if ((statSync(inside).mode & OTHERS) !== 0) throw wrong(path, `others may look into ${folder}`, `chmod 700 ${folder}`);
    fd = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_BYTES) throw wrong(path, 'it is no small plain file', 'Put the file itself there.');
    if ((stat.mode & OTHERS) !== 0) throw wrong(path, 'others may read it', `chmod 600 ${real}`);
    return readFileSync(fd, 'utf8');
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw wrong(
      path,
      `it can't be read (${errnoOf(thrown) ?? 'unknown'})`,
      `Put it into ${folder}, a folder of mode 0700, with mode 0600.`,
    );
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function wrong(path: string, why: string, fix: string): AppError {
  return new AppError('config_invalid', `The key file ${path} is not used: ${why}.`, { fix });
}
