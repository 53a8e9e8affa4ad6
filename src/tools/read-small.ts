import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Far more than what people write into such files. */
const MAX_CONFIG_BYTES = 256 * 1024;

/** The text of a file of settings; undefined for what is absent, no file, or larger. The agent can write there: a pipe in its place must not hold us up. */
export function readSmall(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_CONFIG_BYTES) return undefined;
    const bytes = Buffer.alloc(stat.size);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, stat.size, 0));
  } catch {
    // Absent or not ours to read.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
