/** Texts inside a text: what a block of base64 or hex decodes to, and the text with its escapes read. Never more than the text is long. */

const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}[ :,]?){16,}/gi;
const ESCAPE = /\\u\{?([0-9a-f]{2,6})\}?|\\x([0-9a-f]{2})|((?:%[0-9a-f]{2})+)|&#x([0-9a-f]{1,6});|&#(\d{1,7});/gi;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&nbsp;': ' ', '&apos;': "'" };

/** At most so many blocks of one text are decoded. */
const MAX_BLOCKS = 10_000;

export function decodedTexts(text: string): readonly string[] {
  const found: string[] = [];
  // Wrapped base64 is one block.
  const unwrapped = /[A-Za-z0-9+/]{60}\r?\n/.test(text)
    ? text.replace(/(?<=[A-Za-z0-9+/]{60})\r?\n[ \t]{0,8}(?=[A-Za-z0-9+/=]{4})/g, '')
    : text;
  for (const [block] of take(unwrapped.matchAll(BASE64))) {
    const decoded = asText(Buffer.from(block, 'base64'));
    if (decoded !== undefined) found.push(decoded);
  }
  for (const [block] of take(text.matchAll(HEX))) {
    const decoded = asText(Buffer.from(block.replace(/[ :,]/g, ''), 'hex'));
    if (decoded !== undefined) found.push(decoded);
  }
  const read = unescaped(text);
  return read === text ? found : [...found, read];
}

function* take<T>(items: Iterable<T>): Iterable<T> {
  let left = MAX_BLOCKS;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** Bytes that are a text somebody could read, UTF-8 with blanks in it and hardly a control character, or base64 once more. */
function asText(bytes: Buffer): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8, so no text: data, most often.
    return undefined;
  }
  const readable = /\s/.test(text) || /^[A-Za-z0-9+/_-]{24,}={0,2}$/.test(text);
  return readable && !/[\u0000-\u0008\u000E-\u001A]/.test(text) ? text : undefined;
}

function unescaped(text: string): string {
  if (!/[\\%&]/.test(text)) return text;
  return text
    .replace(ESCAPE, (whole, ...codes: (string | undefined)[]) => {
      const [u, x, percent, hex, decimal] = codes;
      // Percent escapes spell bytes of UTF-8; what is none becomes U+FFFD.
      if (percent !== undefined) return Buffer.from(percent.replaceAll('%', ''), 'hex').toString();
      const code = decimal === undefined ? Number.parseInt(u ?? x ?? hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/&(?:lt|gt|amp|quot|nbsp|apos);/g, (entity) => ENTITIES[entity] ?? entity);
}
