import { HOLE, isUnknown, type Text } from '../text.ts';
import { inspectRemovals } from './code.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const TABLE = optionTable(
  'F=- v=- f=r e=- i=r include=r l=r load=r field-separator=- assign=- file=r E=r exec=r o?w p?w d?w pretty-print?w profile?w dump-variables?w source=- b c C g n N r s S t O sandbox',
);

/** awk: programs run commands by `system`, `print | "cmd"`, `"cmd" | getline`, and write files by `>`. */
export const awk: Program = (call) => {
  const words = readWords(call.args, TABLE, true);
  let code: Text | undefined;
  for (const option of words.options) {
    const value = option.value ?? HOLE;
    if (option.role === 'r') {
      const stream = value === '-' || value === '/dev/stdin' ? call.stdin : call.read(value);
      if (stream?.text !== undefined) code = (code ?? '') + stream.text;
      else {
        if (stream !== undefined) call.runsStream(stream, 'runs an awk program');
        call.report('code_execution', 'runs an awk program from a file');
        code ??= '';
      }
      if (option.name === 'l' || option.name === 'load') call.report('code_execution', 'loads an extension into awk');
    } else if (option.role === 'w') call.write(option.value ?? 'awkprof.out');
    else if (option.name === 'e' || option.name === 'source') code = (code ?? '') + value;
  }
  const operands = [...words.operands];
  if (code === undefined) code = operands.shift() ?? '';
  let worst = call.stdin.origin;
  for (const word of operands) {
    if (/^[A-Za-z_]\w*=/.test(word)) continue;
    const stream = call.read(word);
    if (stream !== undefined && stream.origin !== 'local') worst = stream.origin;
  }
  const values = words.options.filter(({ name }) => /^(v|assign)$/.test(name)).map(({ value = '' }) => value.slice(value.indexOf('=') + 1));
  if (!words.has('S', 'sandbox')) inspect(call, code, values);
  return { origin: worst };
};

/** Takes strings, regular expressions and comments out, then looks for what starts programs. */
function inspect(call: Call, code: Text, values: readonly Text[]): void {
  if (isUnknown(code)) call.report('unknown', 'the awk program cannot be known from the text');
  const strings: Text[] = [];
  let bare = '';
  let value = false;
  for (let i = 0; i < code.length; i++) {
    const char = code[i] ?? '';
    if (char === '"') {
      let text = '';
      for (i++; i < code.length && code[i] !== '"'; i++) {
        if (code[i] === '\\') {
          i++;
          text += ({ n: '\n', t: '\t', '\\': '\\', '"': '"', '/': '/' } as Record<string, string>)[code[i] ?? ''] ?? code[i] ?? '';
        } else text += code[i];
      }
      bare += `"${strings.push(text) - 1}"`;
      value = true;
    } else if (char === '/' && !value) {
      let inClass = false;
      for (i++; i < code.length && (code[i] !== '/' || inClass); i++) {
        if (code[i] === '\\') i++;
        else if (code[i] === '[') inClass = true;
        else if (code[i] === ']') inClass = false;
      }
      bare += '0';
      value = true;
    } else if (char === '#') {
      while (i < code.length && code[i] !== '\n') i++;
      bare += '\n';
      value = false;
    } else {
      bare += char;
      if (!/\s/.test(char)) value = /[\w)\]$]/.test(char) && !/(^|\W)(print|printf|return|in)$/.test(bare);
    }
  }
  const text = (reference: string | undefined): Text => strings[Number(reference)] ?? HOLE;
  const ran = (literal: string | undefined): void => {
    if (literal === undefined) {
      if (call.stdin.origin !== 'local') call.runsStream(call.stdin, 'awk runs its data as a command');
      call.report('code_execution', 'awk runs a command built from its data');
    } else call.runsText(text(literal), 'awk runs a command');
  };
  for (const match of bare.matchAll(/\bsystem\s*\(\s*(?:"(\d+)"\s*\))?/g)) ran(match[1]);
  // A single bar: `||` is the logical or.
  for (const match of bare.matchAll(/(?<!\|)\|&?(?!\|)\s*(?:"(\d+)"(?!\s*[\w("$]))?(?!\s*getline\b)/g))
    if (!/^\|&?\s*getline/.test(bare.slice(match.index))) ran(match[1]);
  for (const match of bare.matchAll(/(?:"(\d+)"|[\w)\]$])\s*\|&?\s*getline\b/g)) ran(match[1]);
  for (const match of bare.matchAll(/\bprintf?\b[^;}\n]*?(?<![->=])>{1,2}\s*(?!=)(?:"(\d+)"(?!\s*[\w("$]))?/g)) {
    // Inside parentheses `>` compares.
    const before = match[0].slice(0, match[0].lastIndexOf('>'));
    if ((before.match(/\(/g)?.length ?? 0) > (before.match(/\)/g)?.length ?? 0)) continue;
    if (match[1] === undefined) call.report('local_write', 'awk writes to files named by its data');
    else if (!/^\/dev\/(stdout|stderr)$/.test(text(match[1]))) call.write(text(match[1]));
  }
  for (const match of bare.matchAll(/getline\s*(?:\w+\s*)?<\s*(?:"(\d+)")?/g)) if (match[1] !== undefined) call.read(text(match[1]));
  for (const string of strings)
    if (/^\/inet[46]?\//.test(string)) call.network('awk opens a network connection', [string.split('/')[4] ?? HOLE]);
  if (/\bENVIRON\b(?!\s*\[\s*"\d+"\s*\])/.test(bare)) call.report('credential_access', 'reads the whole environment');
  // A command may be put together before it is started.
  if (/\bsystem\b|\|/.test(bare)) inspectRemovals(call, [...strings, ...values].map((string) => `"${string}"`).join('\n'));
  if (/@(load|include)\b/.test(bare)) call.report('code_execution', 'loads other code into awk');
}
