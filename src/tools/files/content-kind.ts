import { TextDecoder } from 'node:util';

/** What the beginning of a file says it is. */
export type ContentKind =
  | { readonly type: 'image'; readonly mime_type: string }
  | { readonly type: 'text'; readonly encoding: Encoding }
  | { readonly type: 'binary'; readonly hint: string };

export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'other-8-bit';

/** So much is looked at. */
export const SAMPLE_BYTES = 8192;
/** Share of characters that text in UTF-8 doesn't have. */
const MAX_STRANGE = 0.1;
/** So many say nothing about a short file. */
const FEW = 2;

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const IMAGES: readonly {
  readonly mime_type: string;
  readonly at: number;
  readonly magic: Buffer;
  readonly also?: readonly [number, Buffer];
}[] = [
  { mime_type: 'image/png', at: 0, magic: ascii('\x89PNG\r\n\x1a\n') },
  { mime_type: 'image/jpeg', at: 0, magic: ascii('\xff\xd8\xff') },
  { mime_type: 'image/gif', at: 0, magic: ascii('GIF87a') },
  { mime_type: 'image/gif', at: 0, magic: ascii('GIF89a') },
  { mime_type: 'image/webp', at: 0, magic: ascii('RIFF'), also: [8, ascii('WEBP')] },
];

const startsWith = (bytes: Buffer, at: number, magic: Buffer): boolean => bytes.subarray(at, at + magic.length).equals(magic);

/** From the first SAMPLE_BYTES. UTF-8 in any script is text; so is an 8-bit encoding with few letters beyond ASCII. */
export function contentKind(sample: Buffer): ContentKind {
  const image = IMAGES.find(({ at, magic, also }) => startsWith(sample, at, magic) && (!also || startsWith(sample, also[0], also[1])));
  if (image) return { type: 'image', mime_type: image.mime_type };
  if (startsWith(sample, 0, ascii('\xff\xfe')) && !startsWith(sample, 2, ascii('\0\0'))) return { type: 'text', encoding: 'utf-16le' };
  if (startsWith(sample, 0, ascii('\xfe\xff'))) return { type: 'text', encoding: 'utf-16be' };
  if (sample.includes(0)) return { type: 'binary', hint: binaryHint(sample) };
  const text = new TextDecoder('utf-8').decode(sample, { stream: true });
  let strange = 0;
  let control = 0;
  for (const char of text) {
    if (char === '\ufffd') strange++;
    else if (char < ' ' && !'\t\n\r\f\b\x1b'.includes(char)) control++;
  }
  if (strange + control > Math.max(FEW, text.length * MAX_STRANGE)) {
    return {
      type: 'binary',
      hint: control > strange ? '' : ' If it is text in another encoding: `iconv -f ENCODING -t UTF-8` in the shell.',
    };
  }
  if (strange > 0 && !sample.includes('\ufffd')) return { type: 'text', encoding: 'other-8-bit' };
  return { type: 'text', encoding: startsWith(sample, 0, ascii('\xef\xbb\xbf')) ? 'utf-8-bom' : 'utf-8' };
}

function binaryHint(sample: Buffer): string {
  let even = 0;
  let odd = 0;
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) at % 2 === 0 ? even++ : odd++;
  const half = sample.length / 2;
  const wide = half > 4 && (even > half * 0.4 || odd > half * 0.4) && Math.min(even, odd) < half * 0.1;
  return wide
    ? ` It looks like UTF-16 without a byte order mark: \`iconv -f UTF-16${odd > even ? 'LE' : 'BE'} -t UTF-8\` in the shell.`
    : '';
}

/** As text without its byte order mark; what isn't valid is shown as U+FFFD. */
export function decodeText(bytes: Buffer, encoding: Encoding): string {
  return new TextDecoder(encoding === 'utf-16le' || encoding === 'utf-16be' ? encoding : 'utf-8').decode(bytes);
}
