/** One entry of an archive that holds nothing but folders and links. */
export type TarEntry = {
  readonly path: string;
  readonly link?: string /** Everybody may write, and remove only their own. */;
  readonly shared?: true;
};

const BLOCK = 512;

/** An archive in the format of POSIX (ustar), with nothing in it that changes from one time to the next. Names are ASCII, at most 100 bytes. */
export function makeTar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(header), Buffer.alloc(2 * BLOCK)]);
}

function header({ path, link, shared }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): void => void block.write(text, at, 'latin1');
  put(link === undefined ? `${path}/` : path, 0);
  put(link !== undefined ? '0000777\0' : shared ? '0001777\0' : '0000755\0', 100);
  put('0000000\0', 108);
  put('0000000\0', 116);
  put('00000000000\0', 124);
  put('00000000000\0', 136);
  put(link === undefined ? '5' : '2', 156);
  put(link ?? '', 157);
  put('ustar\x0000', 257);
  // The sum is taken with blanks in its own place.
  put('        ', 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
