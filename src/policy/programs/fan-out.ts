import { LOCAL, type Stream } from '../shell/stream.ts';
import { DEEP, FOREIGN, HOLE, isKnown, isUnknown, type Text } from '../text.ts';
import { optionTable, readWords } from './options.ts';
import type { Program } from './program.ts';

const XARGS = optionTable(
  'a=r arg-file=r d=- delimiter=- E=- eof?- e?- I=- i?- replace?- L=- l?- max-lines?- n=- max-args=- P=- max-procs=- s=- max-chars=- process-slot-var=- 0 null r no-run-if-empty t verbose x exit p interactive o open-tty J=- R=- S=-',
);

/** What standard input puts behind the words; `lines`: a line is one word, as with a place to put it (`-I`). */
function fromInput(stream: Stream, lines = false): readonly Text[] {
  if (stream.none) return [];
  if (stream.paths !== undefined) return [stream.paths];
  if (stream.text !== undefined && !isUnknown(stream.text)) {
    const words = stream.text
      .split(lines ? /[\n\0]+[ \t]*/ : /[\s\0]+/)
      .filter((word) => word !== '')
      .map((word) => word.replace(/^['"]|['"]$/g, '').replace(/\\(.)/g, '$1'));
    return words.length <= 64 ? words : [HOLE];
  }
  return [stream.origin === 'local' ? HOLE : FOREIGN];
}

/** Programs whose operands are only names, or that print what they get: an unknown name is no reason to ask. */
const NAMES_ONLY = new Set([
  'echo',
  'basename',
  'dirname',
  'printf',
  'ls',
  'wc',
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'head',
  'tail',
  'file',
  'stat',
  'du',
  'md5sum',
  'sha256sum',
  'sha1sum',
  'test',
  'realpath',
  'readlink',
  'expr',
  'seq',
  'sleep',
]);

export const xargs: Program = (call) => {
  const words = readWords(call.args, XARGS, true);
  const list = words.value('a', 'arg-file');
  let input: Stream = call.stdin;
  if (list !== undefined) input = call.read(list) ?? LOCAL;
  const replace = words.options.findLast((option) => ['I', 'i', 'replace', 'J'].includes(option.name));
  const given = fromInput(list === undefined && input.none ? LOCAL : input, replace !== undefined);
  const at = words.at[0];
  if (at === undefined) return { origin: input.origin };
  const command = call.args.slice(at);
  const program = command[0]?.split('/').at(-1) ?? '';
  const lenient = NAMES_ONLY.has(program);
  const filled = given.map((word) => (lenient && word === HOLE ? DEEP : word));
  const mark = replace === undefined ? undefined : (replace.value ?? '{}');
  if (mark !== undefined) {
    const fill = filled.length === 1 ? (filled[0] ?? HOLE) : filled.every((word) => isKnown(word)) && filled.length > 0 ? undefined : HOLE;
    const each = fill === undefined ? filled : [fill];
    let out: Stream | undefined;
    for (const word of each.slice(0, 64))
      out = call.inner(call.args.length, { words: command.map((part) => part.replaceAll(mark, word)), stdin: LOCAL });
    return out === undefined ? undefined : { origin: input.origin === 'local' ? out.origin : input.origin };
  }
  const out = call.inner(at, { words: filled, stdin: LOCAL });
  return { origin: input.origin === 'local' ? out.origin : input.origin };
};

const PARALLEL = optionTable(
  'j=- jobs=- a=r arg-file=r S=n sshlogin=n sshloginfile=r C=- colsep=- d=- delimiter=- I=- n=- N=- L=- timeout=- joblog=w results=w tmpdir=w delay=- retries=- halt=- load=- memfree=- workdir=- env=- basefile=- trc=- return=- transferfile=- profile=- tagstring=- shebang',
);

export const parallel: Program = (call) => {
  const words = readWords(call.args, PARALLEL, true);
  if (words.has('S', 'sshlogin')) call.network('parallel runs on other hosts', [words.value('S', 'sshlogin') ?? HOLE]);
  const at = words.at[0];
  if (at === undefined) {
    call.runsStream(call.stdin, 'parallel runs its input as commands');
    if (call.stdin.text !== undefined) call.shell(call.stdin.text);
    return undefined;
  }
  const rest = call.args.slice(at);
  const colons = rest.findIndex((word) => /^:::/.test(word));
  const command = colons < 0 ? rest : rest.slice(0, colons);
  const literal =
    colons < 0 ? fromInput(call.stdin.none ? LOCAL : call.stdin) : rest.slice(colons + 1).filter((word) => !/^:::/.test(word));
  const values = colons >= 0 && /^::::/.test(rest[colons] ?? '') ? [HOLE] : literal;
  for (const value of values.length > 0 && values.length <= 64 ? values : [HOLE]) {
    const placed = command.some((word) => /\{[^{}]*\}/.test(word));
    const filled = command.map((word) => word.replace(/\{[^{}]*\}/g, value));
    // GNU parallel hands the joined words to a shell.
    const all = placed ? filled : [...filled, value];
    // Words without anything special stay words, so that what stands for paths is still known to be paths.
    if (command.length > 1 && command.every((word) => /^[\w./{}=:@%+,-]+$/.test(word))) call.inner(call.args.length, { words: all });
    else if (all.length > 0) call.shell(all.join(' '));
  }
  return undefined;
};
