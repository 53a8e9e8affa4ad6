import { activate, DEEP, HOLE, isKnown, isUnknown, type Text } from '../text.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const WRITES = new Set(['-fprint', '-fprint0', '-fls', '-fprintf']);
/** Tests and actions that take this many words. */
const TAKES: ReadonlyMap<string, number> = new Map(
  '-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -printf -used -context -D'
    .split(' ')
    .map((name) => [name, 1] as const),
);
const READS = new Set(['-newer', '-anewer', '-cnewer', '-samefile', '-files0-from']);

/** Paths that may come out: below each starting point. */
const below = (start: Text): Text => (start === '.' ? DEEP : start === '/' ? `/${DEEP}` : `${start.replace(/\/+$/, '')}/${DEEP}`);

/** With `-name x` and nothing that turns it round, every path found ends in x. */
function onlyName(tests: readonly Text[]): Text | undefined {
  if (tests.some((word) => /^(-o|-or|,|\(|\))$/.test(word))) return undefined;
  // What is turned round is turned round alone: `-name x -not -path y` still ends in x.
  const at = tests.findIndex((word, i) => word === '-name' && !/^(!|-not)$/.test(tests[i - 1] ?? ''));
  const name = at < 0 ? undefined : tests[at + 1];
  return name === undefined || name === '' || name.includes('/') || isUnknown(name) ? undefined : activate(name);
}

export const find: Program = (call) => {
  const { args } = call;
  let i = 0;
  while (i < args.length && /^-([HLP]+|O\d?)$/.test(args[i] ?? '')) i++;
  const starts: Text[] = [];
  while (i < args.length && !/^[-(!]/.test(args[i] ?? '')) starts.push(args[i++] ?? '');
  if (starts.length === 0) starts.push('.');
  for (const start of starts) call.lists(start);
  const name = onlyName(args.slice(i));
  const found = starts.map((start) => (name === undefined ? below(start) : `${below(start)}/${name}`));
  let prints = true;
  for (; i < args.length; i++) {
    const word = args[i] ?? '';
    if (RUNS.has(word)) {
      const from = i + 1;
      let end = from;
      while (end < args.length && args[end] !== ';' && !(args[end] === '+' && args[end - 1] === '{}')) end++;
      for (const path of found) run(call, args.slice(from, end), path);
      if (end === from) call.report('unknown', 'find runs a program that is not given');
      prints = false;
      i = end;
    } else if (word === '-delete') {
      // A folder goes only when it is empty: all that goes has that name.
      for (const path of found) call.remove(path, name === undefined);
      prints = false;
    } else if (WRITES.has(word)) {
      call.write(args[++i] ?? HOLE);
      if (word === '-fprintf') i++;
    } else if (READS.has(word) || word.startsWith('-newer')) call.read(args[++i] ?? HOLE);
    else if (isUnknown(word)) call.report('unknown', 'find has a word that cannot be known from the text');
    else i += TAKES.get(word) ?? 0;
  }
  const only =
    found.length === 1
      ? found[0]
      : found.every((path) => isKnown(path.replace(DEEP, '')) && !path.startsWith('/') && !path.includes('..'))
        ? DEEP
        : undefined;
  return { origin: 'local', ...(prints && only !== undefined && !isUnknown(only) ? { paths: only } : {}) };
};

/** The command with `{}` standing for a path below the starting point. */
function run(call: Call, words: readonly Text[], path: Text): void {
  if (words.length === 0) return;
  const at = call.args.length;
  call.inner(at, { words: words.map((word) => word.replaceAll('{}', path)) });
}

const FD = optionTable(
  'x=- exec=- X=- exec-batch=- e=- extension=- t=- type=- E=- exclude=- d=- max-depth=- min-depth=- exact-depth=- S=- size=- c=- color=- j=- threads=- o=- owner=- g=- glob changed-within=- changed-before=- newer=- older=- base-directory=r search-path=r path-separator=- ignore-file=r format=- max-results=- and=- batch-size=- strip-cwd-prefix?-',
);

export const fd: Program = (call) => {
  const at = call.args.findIndex((arg) => /^(-x|-X|--exec|--exec-batch)(=|$)/.test(arg));
  const words = readWords(at < 0 ? call.args : call.args.slice(0, at), FD);
  const starts = words.operands.slice(1);
  for (const start of starts) call.lists(start);
  const path = starts.length === 0 ? DEEP : starts.length === 1 ? below(starts[0] ?? '.') : HOLE;
  if (at >= 0) {
    const glued = /^--exec(?:-batch)?=(.*)$/s.exec(call.args[at] ?? '')?.[1];
    const command = [...(glued === undefined ? [] : [glued]), ...call.args.slice(at + 1).filter((word) => word !== ';')];
    const placed = command.some((word) => /\{(\/?\.?|\/\/)\}/.test(word));
    const filled = command.map((word) => word.replace(/\{(\/?\.?|\/\/)\}/g, path));
    if (filled.length > 0) call.inner(call.args.length, { words: placed ? filled : [...filled, path] });
    return undefined;
  }
  return { origin: 'local', paths: path };
};
