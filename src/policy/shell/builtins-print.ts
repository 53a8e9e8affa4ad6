import { FOREIGN, HOLE, isForeign, type Text } from '../text.ts';
import type { Builtin } from './builtin.ts';
import { NOTHING, type Stream } from './stream.ts';

const printed = (text: Text): Stream => ({ origin: isForeign(text) ? 'network' : 'local', text });

export const echo: Builtin = (call) => {
  let args = call.args;
  let newline = true;
  let escapes = false;
  while (/^-[neE]+$/.test(args[0] ?? '')) {
    if (args[0]?.includes('n')) newline = false;
    if (args[0]?.includes('e')) escapes = true;
    args = args.slice(1);
  }
  const text = args.join(' ');
  return printed((escapes ? decodeEscapes(text) : text) + (newline ? '\n' : ''));
};

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
};

const decodeEscapes = (text: Text): Text =>
  text.replace(/\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|(.))/gs, (whole, hex, octal, unicode, char) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    return ESCAPES[char] ?? whole;
  });

export const printf: Builtin = (call, side) => {
  let args = call.args;
  let variable: Text | undefined;
  if (args[0]?.startsWith('-v')) {
    variable = args[0].length > 2 ? args[0].slice(2) : args[1];
    args = args.slice(args[0].length > 2 ? 1 : 2);
  }
  if (args[0] === '--') args = args.slice(1);
  const text = formatted(args[0] ?? '', args.slice(1));
  if (variable === undefined) return printed(text);
  call.lurking(variable);
  if (/^\w+$/.test(variable)) side.host.expander.set(variable, [text], side.cell);
  return NOTHING;
};

/** `%s`, `%b`, `%q` and `%d` of known words; anything fancier is unknown text. */
function formatted(format: Text, words: readonly Text[]): Text {
  if (/%[^sbqd%]/.test(format)) return words.some(isForeign) ? FOREIGN : HOLE;
  const decoded = decodeEscapes(format);
  const slots = decoded.match(/%[sbqd]/g)?.length ?? 0;
  const rounds = slots === 0 ? 1 : Math.max(1, Math.ceil(words.length / slots));
  let index = 0;
  let text = '';
  for (let round = 0; round < rounds; round++) {
    text += decoded.replace(/%([sbqd%])/g, (_whole, kind: string) => {
      if (kind === '%') return '%';
      const word = words[index++] ?? '';
      return kind === 'b' ? decodeEscapes(word) : word;
    });
  }
  return text;
}
