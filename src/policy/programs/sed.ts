import { HOLE, isUnknown, type Text } from '../text.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const TABLE = optionTable(
  'e=- expression=- f=r file=r i?- in-place?- l=- line-length=- s n r E z u null-data quiet regexp-extended posix debug sandbox',
);

/** sed: scripts may run commands (`e`), read and write files (`r`, `w`, `s///w`). */
export const sed: Program = (call) => {
  const words = readWords(call.args, TABLE);
  const given = words.options.filter((option) => option.name === 'e' || option.name === 'expression').map((option) => option.value ?? '');
  const files = words.options.filter((option) => option.role === 'r');
  for (const file of files) {
    const stream = file.value === '-' || file.value === '/dev/stdin' ? call.stdin : call.read(file.value ?? HOLE);
    if (stream?.text !== undefined) script(call, stream.text);
    else call.report('code_execution', 'runs a sed script from a file');
  }
  const inline = given.length > 0 || files.length > 0 ? given : words.operands.slice(0, 1);
  if (!words.has('sandbox')) for (const text of inline) script(call, text);
  const paths = words.operands.slice(given.length > 0 || files.length > 0 ? 0 : 1);
  const inPlace = words.has('i', 'in-place');
  let worst = call.stdin.origin;
  for (const path of paths) {
    if (inPlace) call.write(path);
    const stream = call.read(path);
    if (stream !== undefined && stream.origin !== 'local') worst = stream.origin;
  }
  return { origin: worst };
};

function script(call: Call, text: Text): void {
  if (isUnknown(text) && !/^[\s\S]*[sy]([^\w\s\\])/.test(text)) call.report('unknown', 'the sed script cannot be known from the text');
  scan(text, {
    run: (command) => {
      if (command.trim() === '') call.report('code_execution', 'sed runs its data as a command');
      else call.runsText(command, 'sed runs a command');
      if (call.stdin.origin !== 'local' && command.trim() === '') call.runsStream(call.stdin, 'sed runs its data as a command');
    },
    read: (path) => void call.read(path),
    write: (path) => {
      if (!/^\/dev\/(stdout|stderr)$/.test(path)) call.write(path);
    },
    odd: () => call.report('unknown', 'the sed script is not understood'),
  });
}

interface Seen {
  run(command: Text): void;
  read(path: Text): void;
  write(path: Text): void;
  odd(): void;
}

/** Steps over addresses and commands; text arguments reach to the end of the line. */
function scan(text: Text, seen: Seen): void {
  let i = 0;
  const line = (): Text => {
    const end = text.indexOf('\n', i);
    const rest = text.slice(i, end < 0 ? text.length : end);
    i = end < 0 ? text.length : end + 1;
    return rest.trim();
  };
  /** Past one delimited part that begins at i; classes in brackets keep the delimiter literal. */
  const part = (delimiter: string): void => {
    while (i < text.length && text[i] !== delimiter) i += text[i] === '\\' ? 2 : 1;
    i++;
  };
  while (i < text.length) {
    const char = text[i] ?? '';
    if (/[\s;{}!,~+0-9$]/.test(char)) {
      i++;
      continue;
    }
    if (char === '/') {
      i++;
      part('/');
      while (/[IM]/.test(text[i] ?? '')) i++;
      continue;
    }
    if (char === '\\') {
      const delimiter = text[i + 1] ?? '';
      i += 2;
      part(delimiter);
      continue;
    }
    i++;
    switch (char) {
      case '#':
        line();
        break;
      case 's': {
        const delimiter = text[i++] ?? '';
        part(delimiter);
        const from = i;
        part(delimiter);
        const replacement = text.slice(from, i - 1);
        let flags = '';
        while (/[gpiIMme0-9]/.test(text[i] ?? '')) flags += text[i++];
        if (flags.includes('e')) seen.run(/[\\&]/.test(replacement) ? replacement.replace(/\\\d|&/g, HOLE) : replacement);
        if (text[i] === 'w') {
          i++;
          seen.write(line());
        } else if (isUnknown(text[i] ?? '')) seen.odd();
        break;
      }
      case 'y': {
        const delimiter = text[i++] ?? '';
        part(delimiter);
        part(delimiter);
        break;
      }
      case 'e':
        seen.run(line());
        break;
      case 'r':
      case 'R':
        seen.read(line());
        break;
      case 'w':
      case 'W':
        seen.write(line());
        break;
      case 'a':
      case 'i':
      case 'c':
        // The text of an insertion, continued by a backslash at the end of a line.
        while (i < text.length) {
          const rest = line();
          if (!rest.endsWith('\\')) break;
        }
        break;
      case ':':
      case 'b':
      case 't':
      case 'T': {
        while (i < text.length && !/[;\n}]/.test(text[i] ?? '')) i++;
        break;
      }
      case 'd':
      case 'D':
      case 'p':
      case 'P':
      case 'n':
      case 'N':
      case 'g':
      case 'G':
      case 'h':
      case 'H':
      case 'x':
      case 'q':
      case 'Q':
      case '=':
      case 'l':
      case 'z':
      case 'F':
      case 'v':
        break;
      default:
        seen.odd();
        return;
    }
  }
}
