import { activate, DEEP, HOLE, isKnown, isUnknown, SOME, type Text } from '../text.ts';
import { awk } from './awk.ts';
import { all, program } from './define.ts';
import type { Words } from './options.ts';
import type { Call, Program } from './program.ts';
import { sed } from './sed.ts';

/** Reads text, prints text. */
const some: Program = () => ({ origin: 'local', text: SOME });
const dataOnly = program({ words: '-' });

/** What a search or listing prints: paths below where it looked. */
const below = (operands: readonly Text[]): Text => {
  const base = operands.length === 1 ? (operands[0] ?? '') : operands.length === 0 ? '' : undefined;
  if (base === undefined || !isKnown(base))
    return operands.every((word) => !isUnknown(word) && !word.startsWith('/') && !word.includes('..')) ? DEEP : HOLE;
  return base === '' || base === '.' ? DEEP : `${base.replace(/\/$/, '')}/${DEEP}`;
};

const lists = (options: string): Program =>
  program({ options, words: 'l', also: (_call, words) => ({ origin: 'local', paths: below(words.operands) }) });

/** Names that a search in folders is asked to open: `--include='.env*'` reads what `cat .env*` reads. */
function asksFor(call: Call, words: Words, ...options: readonly string[]): void {
  for (const { name, value = '' } of words.options)
    if (options.includes(name) && !value.startsWith('!')) call.read(activate(value.split('/').at(-1) || '*'));
}

const grep = program({
  options:
    'e=- f=r regexp=- file=r A=- B=- C=- m=- context=- max-count=- include=- exclude=- exclude-dir=- exclude-from=r d=- D=- binary-files=- directories=- label=- color?- after-context=- before-context=- l files-with-matches L',
  words: '-r',
  instead: 'e f regexp file',
  also: (call, words) => {
    asksFor(call, words, 'include');
    return words.has('l', 'files-with-matches', 'L')
      ? { origin: 'local', paths: below(words.operands.slice(words.has('e', 'f') ? 0 : 1)) }
      : undefined;
  },
});

const ripgrep = program({
  options:
    'e=- regexp=- f=r file=r g=- glob=- iglob=- t=- type=- T=- type-not=- type-add=- A=- B=- C=- m=- max-count=- M=- r=- replace=- j=- d=- max-depth=- sort=- sortr=- colors=- color=- E=- encoding=- context=- after-context=- before-context=- ignore-file=r path-separator=- max-filesize=- engine=- pre=p pre-glob=- hostname-bin=p l files-with-matches files z search-zip',
  words: '-r',
  instead: 'e f regexp file files',
  also: (call, words) => {
    if (words.has('l', 'files-with-matches', 'files'))
      return { origin: 'local', paths: below(words.operands.slice(words.has('e', 'f', 'regexp', 'file', 'files') ? 0 : 1)) };
    asksFor(call, words, 'g', 'glob', 'iglob');
    return undefined;
  },
});

const jqEnvironment = /(^|[^.\w"$])(env|\$ENV)\b(?!\s*\.\s*(PATH|HOME|USER|LANG|PWD|CI|NODE_ENV)\b)/;

const jq = program({
  options: 'f=r from-file=r L=- indent=- arg argjson slurpfile rawfile args jsonargs n null-input',
  words: '-r',
  instead: 'f from-file',
  also: (call, words) => {
    // --arg NAME VALUE and its kin take two words, which are data but for the files.
    const rest: Text[] = [];
    for (let i = 0; i < call.args.length; i++) {
      const arg = call.args[i] ?? '';
      if (arg === '--arg' || arg === '--argjson') i += 2;
      else if (arg === '--slurpfile' || arg === '--rawfile') {
        call.read(call.args[i + 2] ?? HOLE);
        i += 2;
      } else rest.push(arg);
    }
    const filter = rest.find((arg) => !arg.startsWith('-')) ?? '';
    if (!words.has('f', 'from-file') && jqEnvironment.test(filter))
      call.report('credential_access', 'prints the environment, secrets among them');
    return undefined;
  },
});

/** jq's two-word options would have their values taken for files to read: they are taken out first. */
const jqProgram: Program = (call) => {
  const args: Text[] = [];
  for (let i = 0; i < call.args.length; i++) {
    const arg = call.args[i] ?? '';
    if (arg === '--args' || arg === '--jsonargs') {
      args.push(...call.args.slice(i + 1, i + 2));
      break;
    }
    if (arg === '--slurpfile' || arg === '--rawfile') {
      call.read(call.args[i + 2] ?? HOLE);
      i += 2;
    } else if (arg === '--arg' || arg === '--argjson') i += 2;
    else args.push(arg);
  }
  return jq({ ...call, args, argv: [call.argv[0] ?? 'jq', ...args] });
};

const decoder = (options: string): Program =>
  program({ options, words: 'r', also: (call, words) => (words.has('d', 'D', 'decode') ? { origin: worse(call), ...{} } : undefined) });
const worse = (call: Call): 'decoded' | 'network' => (call.stdin.origin === 'network' ? 'network' : 'decoded');

const sort = program({
  options:
    'o=w output=w compress-program=p T=r temporary-directory=r k=- key=- t=- field-separator=- S=- buffer-size=- parallel=- batch-size=- random-source=r files0-from=r sort=-',
  words: 'r',
});

const tee = program({
  options: 'a append i p output-error?-',
  words: '-',
  also: (call, words) => {
    for (const path of words.operands) call.write(path, call.stdin);
    return call.stdin.none ? undefined : call.stdin;
  },
});

const cat = program({
  options: '',
  words: '-',
  also: (call, words) => {
    if (words.operands.length === 0) return call.stdin;
    const streams = words.operands.map((word) => (word === '-' ? call.stdin : call.read(word)));
    const only = streams.length === 1 ? streams[0] : undefined;
    if (only !== undefined) return only;
    const worst = streams.some((one) => one?.origin === 'network')
      ? 'network'
      : streams.some((one) => one?.origin === 'decoded')
        ? 'decoded'
        : 'local';
    return { origin: worst };
  },
});

const basename: Program = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-'));
  const path = words[0];
  if (path === undefined || isUnknown(path)) return { origin: 'local', text: path === undefined ? HOLE : SOME };
  const base = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  const suffix = call.name === 'basename' ? words[1] : undefined;
  const text =
    call.name === 'basename'
      ? suffix !== undefined && base.endsWith(suffix)
        ? base.slice(0, -suffix.length)
        : base
      : path.includes('/')
        ? path.slice(0, path.lastIndexOf('/')) || '/'
        : '.';
  return { origin: 'local', text };
};

const realpath: Program = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-'));
  const only = words.length === 1 ? words[0] : undefined;
  if (only === undefined || isUnknown(only)) return { origin: 'local' };
  return { origin: 'local', text: only.startsWith('/') ? only : call.cwd.length === 1 ? `${call.cwd[0]}/${only}` : HOLE };
};

const printenv: Program = (call) => {
  const names = call.args.filter((arg) => !arg.startsWith('-'));
  if (names.length === 0) call.report('credential_access', 'prints the environment, secrets among them');
  for (const name of names) {
    if (/SECRET|TOKEN|PASS|CREDENTIAL|KEY|AUTH/i.test(name) || isUnknown(name))
      call.report('credential_access', `prints the variable ${isKnown(name) ? name : 'whose name is not known'}`);
  }
  return { origin: 'local' };
};

const tr: Program = program({
  words: '-',
  options: '',
  also: (call) => ({ origin: call.stdin.origin === 'network' ? 'network' : 'decoded' }),
});

const xxd = program({
  options: 'r revert p c=- l=- s=- g=- o=- n=-',
  words: 'rw',
  also: (call, words) => (words.has('r', 'revert') ? { origin: worse(call) } : undefined),
});

const split = program({
  options: 'b=- l=- n=- a=- C=- d filter=x additional-suffix=- numeric-suffixes?- bytes=- lines=- number=- t=-',
  words: 'r-',
  does: [['local_write', 'writes pieces of its input in the working folder']],
});

const yes: Program = (call) => ({ origin: 'local', text: call.args.length > 0 ? HOLE : SOME });

const pager = program({
  options: 'o=w O=w log-file=w LOG-FILE=w k=r lesskey-file=r lesskey-src=r t=- T=r p=- P=- j=- x=- y=- z=- b=- D=- h=-',
  words: 'r',
  also: (call) => {
    for (const arg of call.args)
      if (arg.startsWith('+') && /!|\|/.test(arg))
        call.runsText(arg.slice(arg.search(/[!|]/) + 1), 'a command given to the pager starts a program');
    return undefined;
  },
});

const bat = program({
  options:
    'pager=p l=- language=- H=- highlight-line=- m=- map-syntax=- theme=- style=- r=- line-range=- paging=- wrap=- tabs=- decorations=- color=- file-name=- terminal-width=-',
  words: 'r',
});

export const TEXT: readonly (readonly [string, Program])[] = [
  ...all('cat tac nl zcat bzcat xzcat', cat),
  ...all('zcat bzcat xzcat zstdcat lzcat gzcat', program({ words: 'r', prints: 'decoded' })),
  ...all('head tail', program({ options: 'n=- c=- lines=- bytes=- s=- pid=- sleep-interval=-', words: 'r' })),
  ...all(
    'wc sum cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 crc32',
    program({ options: 'a=- files0-from=r', words: 'r' }),
  ),
  ['cut', program({ options: 'd=- f=- c=- b=- delimiter=- fields=- output-delimiter=- characters=-', words: 'r' })],
  ['paste', program({ options: 'd=- delimiters=-', words: 'r' })],
  ['join', program({ options: 't=- 1=- 2=- j=- o=- e=- a=- v=-', words: 'r' })],
  ['comm', program({ options: 'output-delimiter=-', words: 'r' })],
  ['uniq', program({ options: 'f=- s=- w=- skip-fields=- skip-chars=-', words: 'rw' })],
  ['sort', sort],
  ['tsort', program({ words: 'r' })],
  [
    'shuf',
    program({
      options: 'n=- i=- o=w output=w e echo random-source=r',
      words: '-',
      also: (call, words) => {
        if (!words.has('e', 'echo')) for (const word of words.operands) call.read(word);
        return undefined;
      },
    }),
  ],
  ...all('tr', tr),
  ['rev', program({ words: 'r', prints: 'decoded' })],
  ...all(
    'fold fmt expand unexpand col colrm column iconv pr ul nroff',
    program({
      options: 'w=- t=- s=- f=- c=- o=- N=- width=- goal=- separator=- table-columns=- output-separator=- from-code=- to-code=- output=w',
      words: 'r',
    }),
  ),
  ...all('dos2unix unix2dos', program({ options: 'n newfile', words: 'w' })),
  ...all('grep egrep fgrep zgrep bzgrep xzgrep zegrep pcregrep pcre2grep', grep),
  ...all('rg ripgrep', ripgrep),
  ['ugrep', program({ options: 'e=- f=r filter=x pager?p view?p', words: '-r', instead: 'e f' })],
  ...all('ag ack', program({ options: 'pager=p G=- file-search-regex=- ignore=- ignore-dir=- A=- B=- C=- m=- type=-', words: '-r' })),
  ['sed', sed],
  ...all('gsed', sed),
  ...all('awk gawk mawk nawk', awk),
  ['jq', jqProgram],
  ['gojq', jqProgram],
  [
    'yq',
    program({
      options: 'i inplace P e=- o=- p=- output-format=- input-format=- indent=- from-file=r',
      words: '-r',
      also: (call, words) => {
        if (words.has('i', 'inplace', 'in-place')) for (const path of words.operands.slice(1)) call.write(path);
        if (/\benv\b|\$ENV|envsubst|strenv|load/.test(words.operands[0] ?? ''))
          call.report('credential_access', 'reads the environment or other files through an expression');
        return undefined;
      },
    }),
  ],
  ...all(
    'xmllint xsltproc xmlstarlet csvcut csvlook csvgrep csvstat csvjson mlr qsv xsv dasel fx gron html2text',
    program({ options: 'o=w output=w xpath=- format schema=r', words: 'r' }),
  ),
  ['pandoc', program({ options: 'o=w output=w f=- t=- from=- to=- F=p filter=p L=p lua-filter=p pdf-engine=p template=r', words: 'r' })],
  ...all(
    'diff cmp diff3 sdiff colordiff icdiff difft',
    program({
      options: 'U=- C=- I=- x=- X=r exclude=- exclude-from=r label=- L=- from-file=r to-file=r color?- W=- width=- n=- i=- o=w',
      words: 'r',
    }),
  ),
  [
    'patch',
    program({
      options: 'p=- strip=- i=r input=r o=w output=w d=r directory=r B=- r=w reject-file=w F=- D=- g=- V=- z=- Y=-',
      words: 'wr',
      does: [['local_write', 'changes files as the patch says']],
    }),
  ],
  ...all('filterdiff lsdiff interdiff', program({ words: 'r' })),
  [
    'od',
    program({ options: 'A=- j=- N=- S?- t=- w?- a b c d f i l o s v x address-radix=- skip-bytes=- read-bytes=- format=-', words: 'r' }),
  ],
  ...all(
    'strings hexdump hd file readelf nm objdump size ldd addr2line c++filt',
    program({ options: 'n=- t=- e=- N=- j=- A=- w=- s=- c=- C magic-file=r m=r f=r', words: 'r' }),
  ),
  ['ldd', program({ words: 'r', does: [['code_execution', 'may start the program to list its libraries']] })],
  ['xxd', xxd],
  ...all('base64 base32 basenc base58', decoder('d D decode w=- wrap=- i=r o=w ignore-garbage')),
  ...all('uudecode', program({ options: 'o=w', words: 'r', prints: 'decoded' })),
  ...all('uuencode', program({ words: 'r-' })),
  ['tee', tee],
  ...all('basename dirname', basename),
  ...all('realpath readlink', realpath),
  ['printenv', printenv],
  [
    'envsubst',
    program({
      words: '-',
      also: (call) => {
        call.report('credential_access', 'puts values of the environment into text');
        return { origin: call.stdin.origin };
      },
    }),
  ],
  ...all('seq', some),
  ...all(
    'expr factor nproc arch whoami logname tty uptime cal ncal numfmt getconf locale bc dc units id groups users who w hostid uname uuidgen sleep usleep true false',
    program({ words: '-', also: () => ({ origin: 'local', text: SOME }) }),
  ),
  ['bc', program({ options: '', words: 'r', also: (call) => ({ origin: call.stdin.origin, text: SOME }) })],
  [
    'dc',
    program({
      options: 'e=- f=r',
      words: 'r',
      also: (call) => {
        const text = call.stdin.text ?? '';
        const inline = call.args.join(' ');
        if (/!/.test(text + inline))
          call.runsText((text + inline).slice((text + inline).indexOf('!') + 1).split('\n')[0] ?? '', 'a `!` of dc starts a command');
        return undefined;
      },
    }),
  ],
  [
    'date',
    program({
      options: 'd=- date=- s=- set=- f=r r=r u I?- R',
      words: '-',
      also: (call, words) => {
        if (words.has('s', 'set'))
          call.report('system_write', 'sets the clock of the system', {
            opens: { type: 'uncontained', why: 'the clock belongs to the host' },
          });
        return { origin: 'local', text: SOME };
      },
    }),
  ],
  ['yes', yes],
  ...all('less more most pg', pager),
  ...all('bat batcat', bat),
  ['split', split],
  ['csplit', program({ options: 'f=- b=- n=-', words: 'r-', does: [['local_write', 'writes pieces of its input in the working folder']] })],
  ...all(
    'ls dir vdir exa eza lsd',
    lists('I=- w=- T=- block-size=- color?- sort=- time=- ignore=- hide=- format=- indicator-style=- L=- level=-'),
  ),
  ['tree', program({ options: 'L=- I=- P=- o=w H=- T=- charset=- filelimit=- fromfile timefmt=- sort=-', words: 'l' })],
  ...all(
    'du df stat',
    program({ options: 'd=- c=- f=- t=- B=- max-depth=- exclude=- format=- printf=- threshold=- time-style=- X=r', words: 'l' }),
  ),
  ...all('cloc tokei scc sloccount wdiff', program({ options: 'out=w exclude-dir=-', words: 'r' })),
  ...all('fzf', program({ options: 'preview=x bind=x execute=x with-shell=x q=- query=- f=- filter=-', words: '-' })),
  ...all('man', program({ options: 'P=p pager=p H?p html?p C=r M=r s=- k f L=-', words: '-' })),
  ...all('info whatis apropos tldr cheat', dataOnly),
  ...all('which whereis locate mlocate plocate', dataOnly),
  ...all('clear reset tput stty setterm resize', dataOnly),
  ...all('figlet toilet cowsay lolcat fortune pv', program({ words: '-' })),
];
