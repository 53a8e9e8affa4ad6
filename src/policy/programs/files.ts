import { isBlockDevice } from '../paths/policy.ts';
import type { Stream } from '../shell/stream.ts';
import { HOLE, isUnknown, SOME, type Text } from '../text.ts';
import { all, program } from './define.ts';
import { fd, find } from './find.ts';
import { optionTable, readWords } from './options.ts';
import type { Program } from './program.ts';

/** Where `cp a b` puts things: into the target folder under the old name, or at the target. Both are judged. */
function destinations(target: Text, sources: readonly Text[], folder: boolean): readonly Text[] {
  const into = sources.map((source) => `${target.replace(/\/+$/, '')}/${source.replace(/\/+$/, '').split('/').at(-1) ?? ''}`);
  if (folder || target.endsWith('/') || target === '.' || target === '..') return into;
  return sources.length > 1 ? into : [target, ...into];
}

const COPY = optionTable(
  't=- target-directory=- S=- suffix=- T no-target-directory Z? context?- backup?- preserve?- no-preserve=- reflink?- sparse=- m=- mode=- o=- owner=- g=- group=- C D s strip-program=p update?- d directory',
);

const transfer =
  (moves: boolean): Program =>
  (call) => {
    const words = readWords(call.args, COPY);
    const strip = words.value('strip-program');
    if (strip !== undefined) call.runsText(strip, 'install starts a strip program');
    const folder = words.value('t', 'target-directory');
    if (call.name === 'install' && words.has('d', 'directory')) {
      for (const path of words.operands) call.write(path);
      return undefined;
    }
    const sources = folder === undefined ? words.operands.slice(0, -1) : words.operands;
    const target = folder ?? words.operands.at(-1);
    let content: Stream | undefined;
    for (const source of sources) {
      const stream = call.read(source);
      if (stream !== undefined) content = stream;
      if (moves) {
        // What is moved is gone from where it was: a loss only outside the workspace, where it counts as a change there.
        call.write(source);
        call.upsets(source);
      }
    }
    if (target === undefined) return undefined;
    if (call.name === 'install') {
      const mode = words.value('m', 'mode');
      if (mode !== undefined && setsId(mode)) call.report('system_write', 'installs a file that runs as its owner');
    }
    for (const path of words.operands.length > 1 || folder !== undefined ? destinations(target, sources, folder !== undefined) : [target])
      call.write(path, content);
    return undefined;
  };

const link: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable('t=- target-directory=- S=- suffix=- s symbolic f force n T no-target-directory backup?-'),
  );
  const folder = words.value('t', 'target-directory');
  const target = folder ?? (words.operands.length > 1 ? (words.operands.at(-1) ?? '.') : '.');
  const sources = folder === undefined && words.operands.length > 1 ? words.operands.slice(0, -1) : words.operands;
  const symbolic = words.has('s', 'symbolic');
  if (!symbolic) for (const source of sources) call.read(source);
  const made = destinations(target, sources, folder !== undefined);
  for (const path of made) call.write(path);
  // Through the link a later command reaches what its own words don't show.
  if (symbolic) for (const source of sources) for (const path of made) call.links(path, source);
  return undefined;
};

/** `4755`, `u+s`, `g=rwxs`. */
function setsId(mode: Text): boolean {
  if (isUnknown(mode)) return true;
  if (/^[0-7]+$/.test(mode)) return mode.length >= 4 && (Number.parseInt(mode.slice(0, -3), 8) & 6) !== 0;
  return mode.split(',').some((clause) => /[ugoa]*[+=][rwxXst]*s/.test(clause) && !/^o?[-]/.test(clause));
}

const chmod: Program = (call) => {
  const words = call.args.filter(
    (arg) =>
      !/^-[RfcvhHLP]+$|^--(recursive|verbose|changes|quiet|silent|preserve-root|no-preserve-root|dereference|no-dereference)/.test(arg),
  );
  const reference = words.find((word) => word.startsWith('--reference='));
  if (reference !== undefined) call.read(reference.slice(12));
  const rest = words.filter((word) => !word.startsWith('--'));
  const mode = reference === undefined ? rest[0] : undefined;
  if (mode !== undefined && setsId(mode))
    call.report(
      'system_write',
      isUnknown(mode) ? 'sets a mode that cannot be known from the text' : 'makes a file run as its owner or group',
    );
  const recursive = call.args.some((arg) => /^-\w*R|^--recursive$/.test(arg));
  for (const path of reference === undefined ? rest.slice(1) : rest) {
    call.write(path);
    if (recursive) call.upsets(path);
  }
  return undefined;
};

const owner = program({
  options: 'R h f from=- reference=r',
  words: '-w',
  also: (call, words) => {
    if (words.has('R', 'recursive')) for (const path of words.operands) call.upsets(path);
    call.report('system_write', `${call.name} changes the owner of files`, {
      opens: { type: 'uncontained', why: 'changing owners needs rights that a contained run lacks' },
    });
    return undefined;
  },
});

const SAYS_RECURSIVE = /^(r|R|recursive)$/;

const remove: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable('r R f i I d v recursive force dir verbose interactive?- no-preserve-root preserve-root?- one-file-system'),
  );
  const open =
    words.options.some((option) => option.role === 'u') ||
    words.operands.some((word) => word === HOLE || (isUnknown(word) && /^[\uFDD0\uFDD1]/.test(word)));
  const recursive = words.options.some((option) => SAYS_RECURSIVE.test(option.name));
  for (const word of words.operands) call.remove(word, recursive || open);
  return undefined;
};

const overwritten: Program = (call) => {
  const words = readWords(call.args, optionTable('n=- s=- iterations=- size=- random-source=r u?- remove?- f v x z'));
  for (const word of words.operands) {
    if (isBlockDevice(word)) call.write(word);
    call.remove(word, true);
  }
  return undefined;
};

const dd: Program = (call) => {
  let content: Stream | undefined;
  for (const arg of call.args) {
    const [key, value] = [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)];
    if (key === 'if') content = call.read(value);
  }
  for (const arg of call.args) if (arg.startsWith('of=')) call.write(arg.slice(3), content ?? (call.stdin.none ? undefined : call.stdin));
  for (const arg of call.args)
    if (isUnknown(arg) && !arg.includes('=')) call.report('unknown', 'dd has a word that cannot be known from the text');
  return content ?? call.stdin;
};

const mktemp: Program = (call) => {
  const words = readWords(call.args, optionTable('p=- tmpdir?- suffix=- d q u t'));
  const template = words.operands[0];
  const folder = words.value('p', 'tmpdir');
  call.report('local_write', 'makes a temporary file or folder');
  const base = template === undefined ? SOME : template.replace(/X{3,}/, SOME);
  if (template !== undefined && !words.has('t', 'p', 'tmpdir')) {
    call.write(base);
    return { origin: 'local', text: `${base}\n` };
  }
  const path = `${folder ?? '/tmp'}/${base}`;
  call.write(path);
  return { origin: 'local', text: `${path}\n` };
};

const TAR = optionTable(
  'f=- file=- C=r directory=r T=r files-from=r X=r exclude-from=r I=p use-compress-program=p rsh-command=p to-command=p F=p info-script=p new-volume-script=p rmt-command=p checkpoint?- checkpoint-action=- exclude=- transform=- xform=- strip-components=- owner=- group=- mode=- mtime=- g=w listed-incremental=w index-file=w volno-file=w b=- L=- V=- label=- one-top-level?- N=- newer=- K=- starting-file=- format=- H=- sort=- suffix=- remove-files',
);

const tar: Program = (call) => {
  // The first word may be a bundle without a dash: `tar xzf a.tgz`.
  const [first, ...rest] = call.args;
  const bundled = first !== undefined && /^[A-Za-z]+$/.test(first);
  const args = bundled ? [`-${spread(first)}`, ...reorder(first, rest)] : call.args;
  const words = readWords(args, TAR);
  const archive = words.value('f', 'file');
  const folder = words.value('C', 'directory');
  for (const { role, value, name } of words.options) {
    if (role === 'p' && value !== undefined) call.runsText(value, `tar starts a program (--${name})`);
    else if (role === 'w' && value !== undefined) call.write(value);
    else if (role === 'r' && name !== 'C' && name !== 'directory' && value !== undefined) call.read(value);
    else if (name === 'checkpoint-action' && value !== undefined && !/^(dot|echo|bell|totals|ttyout|sleep)/.test(value)) {
      call.runsText(value.replace(/^exec=/, ''), 'tar runs a command at a checkpoint');
    }
  }
  const creates = words.has('c', 'r', 'u', 'A', 'create', 'append', 'update');
  const extracts = words.has('x', 'extract', 'get');
  if (archive !== undefined && /^[^/]+:/.test(archive) && !words.has('force-local'))
    call.network('tar reaches the host that holds the archive', [archive]);
  if (creates && !extracts) {
    if (archive !== undefined && archive !== '-') call.write(archive);
    for (const word of words.operands) call.read(folder === undefined || word.startsWith('/') ? word : `${folder}/${word}`);
    if (words.has('remove-files')) for (const word of words.operands) call.remove(word, true);
  } else {
    if (archive !== undefined && archive !== '-') call.read(archive);
    const toOutput = words.has('O', 'to-stdout');
    const top = words.value('one-top-level');
    if (extracts && !toOutput && top !== undefined) call.write(top.startsWith('/') ? `${top}/.` : `${folder ?? '.'}/${top}/.`);
    if (extracts && !toOutput) call.write(words.has('P', 'absolute-names') ? HOLE : (folder ?? '.').replace(/\/*$/, '/.'));
    if (extracts && toOutput) return { origin: call.stdin.origin === 'network' ? 'network' : 'decoded' };
  }
  return undefined;
};

/** Bundled letters that take a value take the following words in order; those letters are moved to the end, glued to nothing. */
const TAKES = /[fCTXIFgbLVNKH]/;
const spread = (bundle: string): string => [...bundle].filter((letter) => !TAKES.test(letter)).join('') || 'v';
const reorder = (bundle: string, rest: readonly Text[]): readonly Text[] => {
  const words: Text[] = [];
  let next = 0;
  for (const letter of bundle) if (TAKES.test(letter)) words.push(`-${letter}`, rest[next++] ?? '');
  return [...words, ...rest.slice(next)];
};

const archive = (what: 'unpacks' | 'packs', options: string, tests = false): Program =>
  program({
    options,
    words: '-',
    also: (call, words) => {
      // zip's two letters behind one dash are one option.
      const tester = tests ? call.args[call.args.indexOf('-TT') + 1] : undefined;
      if (tester !== undefined && call.args.includes('-TT')) call.runsText(tester, `${call.name} tests the archive with a program`);
      const [first, ...rest] = words.operands;
      if (what === 'packs') {
        if (first !== undefined && first !== '-') call.write(first);
        for (const word of rest) call.read(word);
        if (words.has('m', 'move')) for (const word of rest) call.remove(word, true);
      } else {
        if (first !== undefined) call.read(first);
        if (!words.has('l', 'v', 't', 'Z', 'p', 'c')) call.write((words.value('d') ?? '.').replace(/\/*$/, '/.'));
        if (words.has('p', 'c')) return { origin: 'decoded' };
      }
      return undefined;
    },
  });

const compress = program({
  options: 'c stdout to-stdout d decompress uncompress k keep t test l list S=- suffix=- T=- o=w D=r M=-',
  words: '-',
  also: (call, words) => {
    const decodes = words.has('d', 'decompress', 'uncompress') || /^(gunzip|bunzip2|unxz|unzstd|unlz4|unlzma|uncompress)$/.test(call.name);
    const toOutput = words.has('c', 'stdout', 'to-stdout') || words.operands.length === 0;
    for (const word of words.operands) {
      call.read(word);
      if (!toOutput && !words.has('t', 'test', 'l', 'list')) call.write(word);
    }
    return decodes ? { origin: call.stdin.origin === 'network' ? 'network' : 'decoded' } : { origin: call.stdin.origin };
  },
});

const seven: Program = (call) => {
  const [verb = '', archivePath = '', ...rest] = call.args.filter((arg) => !arg.startsWith('-'));
  const out = call.args.find((arg) => /^-o/.test(arg))?.slice(2);
  if (/^[xe]$/.test(verb)) {
    call.read(archivePath);
    call.write(`${out ?? '.'}/.`);
  } else if (/^[aud]$/.test(verb)) {
    call.write(archivePath);
    for (const word of rest) call.read(word);
  } else call.read(archivePath);
  return undefined;
};

export const FILES: readonly (readonly [string, Program])[] = [
  ...all('cp gcp', transfer(false)),
  ...all('mv gmv', transfer(true)),
  ['install', transfer(false)],
  ['ln', link],
  ['link', program({ words: 'rw' })],
  ...all('rm grm', remove),
  ...all('unlink', remove),
  ['rmdir', program({ options: 'p v parents ignore-fail-on-non-empty', words: 'w' })],
  ...all('trash trash-put gio-trash', (call) => {
    for (const word of call.args) if (!word.startsWith('-')) call.remove(word, true);
    return undefined;
  }),
  ...all('shred srm wipe', overwritten),
  ['mkdir', program({ options: 'p v m=- mode=- parents Z?- context?-', words: 'w' })],
  ['touch', program({ options: 'a c m t=- d=- r=r date=- reference=r time=- h', words: 'w' })],
  ['truncate', program({ options: 's=- size=- r=r reference=r c o', words: 'w' })],
  ['fallocate', program({ options: 'l=- o=- length=- offset=- n d', words: 'w' })],
  ...all('mkfifo', program({ options: 'm=- mode=-', words: 'w' })),
  [
    'mknod',
    program({
      options: 'm=-',
      words: 'w-',
      also: (call, words) => {
        if (/^[bcu]$/.test(words.operands[1] ?? '')) call.report('system_write', 'makes a device file');
        return undefined;
      },
    }),
  ],
  ['mktemp', mktemp],
  ...all('tempfile', mktemp),
  ['chmod', chmod],
  ...all('chown chgrp', owner),
  ...all('chattr', program({ words: '-w', does: [['system_write', 'changes attributes that protect files']] })),
  ...all('setfacl setfattr', program({ options: 'm=- x=- n=- v=- M=r R b k', words: 'w' })),
  ...all('getfacl getfattr lsattr', program({ words: 'r' })),
  ['setcap', program({ words: '-w', does: [['system_write', 'gives a program rights of the system']] })],
  ...all('getcap', program({ words: 'r' })),
  ['dd', dd],
  ['tar', tar],
  ...all('gtar bsdtar', tar),
  ['zip', archive('packs', 'r q 9 m move x=- i=- b=- P=- password=- T TT=p unzip-command=p n=-', true)],
  ['unzip', archive('unpacks', 'd=- l v t p c o n q j x=- P=- Z')],
  ...all('7z 7za 7zr', seven),
  ...all('gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 unlz4 lzma unlzma compress uncompress pigz pbzip2 brotli lzip', compress),
  ...all(
    'cpio',
    program({
      options: 'i o p D=w directory=w F=r I=r O=w rsh-command=p to-stdout',
      words: 'w',
      does: [['local_write', 'packs or unpacks files']],
    }),
  ),
  ...all('ar ranlib strip objcopy', program({ words: 'w' })),
  ['find', find],
  ...all('gfind bfs', find),
  ...all('fd fdfind', fd),
  ['sync', program({ words: '-' })],
  ...all('rename prename', program({ options: 'n v f e=-', words: '-w', does: [['code_execution', 'renames files by a program text']] })),
  ...all('inotifywait', program({ options: 'e=- t=- format=- exclude=- fromfile=r o=w', words: 'r' })),
];
