import { HOLE, isForeign, isUnknown, type Text } from '../text.ts';
import { inspectCode } from './code.ts';
import { resetsDatabase } from './database-resets.ts';
import { all } from './define.ts';
import { type OptionTable, optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const SHELL = optionTable('c x rcfile=r init-file=r O=- o=- l i s e u v n p r B C login posix norc noprofile restricted verbose');

/** A shell: text by -c, a file, or standard input. */
const shell: Program = (call) => {
  let i = 0;
  let text = false;
  let fromInput = false;
  let interactive = false;
  while (i < call.args.length) {
    const arg = call.args[i] ?? '';
    if (arg === '--' || arg === '-') {
      i++;
      break;
    }
    if (!/^[-+]./.test(arg)) break;
    if (arg.startsWith('--')) {
      const known = SHELL.long.get(arg.slice(2));
      i++;
      if (known?.role === 'r') {
        const text = call.runsFile(call.args[i++] ?? HOLE, 'reads a start-up file')?.text;
        if (text !== undefined) call.shell(text, { lenient: true });
      } else if (arg === '--version' || arg === '--help') return undefined;
      continue;
    }
    if (isUnknown(arg)) call.report('unknown', 'an option of the shell cannot be known from the text');
    // `-c` may stand anywhere in a bundle; `-o` and `-O` take a word.
    const letters = arg.slice(1);
    if (letters.includes('c')) text = true;
    if (letters.includes('s')) fromInput = true;
    if (letters.includes('i')) interactive = true;
    i++;
    if (/[oO]$/.test(letters)) i++;
  }
  const rest = call.args.slice(i);
  if (text) {
    const [source, zero, ...args] = rest;
    if (source === undefined) return undefined;
    if (interactive) call.report('code_execution', 'starts an interactive shell');
    return call.shell(source, zero === undefined ? { args } : { args, zero });
  }
  const [file, ...args] = rest;
  if (file !== undefined && !fromInput) {
    const stream = call.runsFile(file, 'runs a script');
    return stream?.text !== undefined && stream.origin === 'local' ? call.shell(stream.text, { args, lenient: true }) : undefined;
  }
  call.runsStream(call.stdin, 'a shell runs what it reads');
  if (call.stdin.text !== undefined) return call.shell(call.stdin.text, { args: fromInput ? rest : args, stdin: { origin: 'local' } });
  return undefined;
};

interface Language {
  /** Options that take code as their value. */
  readonly code: string;
  readonly options: string;
  /** Only where something of the language itself is known. */
  readonly language?: 'python' | 'node';
  readonly oneDash?: boolean;
}

const LINE_BY_LINE = /^(perl5?|j?ruby)$/;

const interpreter = ({ code, options, language, oneDash }: Language): Program => {
  const names = code.split(' ');
  const table: OptionTable = optionTable(`${options} ${names.map((name) => `${name}=-`).join(' ')}`, oneDash ?? false);
  return (call) => {
    const words = readWords(call.args, table, true);
    if (/^(-v|-V|-version|--version|version)$/.test(call.args[0] ?? '') && call.args.length === 1) return undefined;
    if (language === 'python' && READS_DATA.has(words.value('m') ?? '')) {
      for (const word of words.operands) if (!word.startsWith('-')) call.read(word);
      return undefined;
    }
    call.report('code_execution', `runs a ${call.name} program`);
    let given = false;
    for (const { name, value, role } of words.options) {
      if (names.includes(name) && value !== undefined) {
        given = true;
        // What `-p` is given is printed.
        inspectCode(call, language === 'node' && name.startsWith('p') ? `console.log(${value})` : value);
      } else if (role === 'r' && value !== undefined) call.runsFile(value, `${call.name} loads a file`);
      else if (role === 'w' && value !== undefined) call.write(value);
      else if (name === 'm' && language === 'python') {
        given = true;
        pythonModule(call, value ?? HOLE);
      }
    }
    if (given) {
      // `perl -ne`, `ruby -pi -e`: the other words are files that the code is run over.
      const over = LINE_BY_LINE.test(call.name) && words.has('n', 'p') ? words.operands : [];
      for (const path of over) {
        call.read(path);
        if (words.has('i')) call.write(path);
      }
      return undefined;
    }
    resetsDatabase(call);
    const [file] = words.operands;
    if (file !== undefined && file !== '-') {
      if (/(^|\/)writ(\.\w+)?$/.test(file)) call.inner(call.args.length, { words: ['writ', ...call.args.slice((words.at[0] ?? 0) + 1)] });
      if (language === 'node' && /^(inspect|--)$/.test(file)) return undefined;
      const stream = call.runsFile(file, `runs a ${call.name} program`);
      if (stream?.text !== undefined && stream.origin === 'local') inspectCode(call, stream.text);
      return undefined;
    }
    call.runsStream(call.stdin, `${call.name} runs what it reads`);
    if (call.stdin.text !== undefined) inspectCode(call, call.stdin.text);
    return undefined;
  };
};

/** Modules that read data and run none of it. */
const READS_DATA = new Set(['json.tool', 'calendar', 'this', 'platform', 'tokenize', 'ast', 'tabnanny', 'quopri', 'pyclbr']);

/** `python -m X`: a few modules read data, some reach the network or install; the rest is code. */
function pythonModule(call: Call, module: Text): void {
  if (isForeign(module)) call.report('blocked', 'runs a module named by the network');
  if (isUnknown(module)) call.report('unknown', 'runs a module that cannot be known from the text');
  if (
    module === 'pip' ||
    module === 'ensurepip' ||
    module === 'pipx' ||
    module === 'uv' ||
    module === 'poetry' ||
    module === 'twine' ||
    module === 'build'
  ) {
    const at = call.args.indexOf(module);
    if (at >= 0) call.inner(at);
  }
  if (/^(http\.server|SimpleHTTPServer|smtpd)$/.test(module)) call.report('code_execution', 'serves files');
  if (module === 'this') return;
}

const php = interpreter({ code: 'r run', options: 'd=c c=r f=r file=r B=- R=- E=- F=r S=- t=r z=r a i l n w m' });

export const INTERPRETERS: readonly (readonly [string, Program])[] = [
  ...all('sh bash dash ash ksh mksh zsh fish rbash yash posh tcsh csh rc nu elvish xonsh', shell),
  ...all(
    'python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3 micropython ipython3',
    interpreter({ code: 'c', options: 'm=- W=- X=- Q=- check-hash-based-pycs=- B E I O P S b d i q s u v x', language: 'python' }),
  ),
  ...all(
    'node nodejs',
    interpreter({
      code: 'e eval p print pe',
      options:
        'r=r require=r import=r loader=r experimental-loader=r env-file=- C=- conditions=- input-type=- inspect?- inspect-brk?- title=- max-old-space-size?- stack-size?- test-name-pattern=- test-reporter=- cpu-prof-dir=w diagnostic-dir=w redirect-warnings=w icu-data-dir=r openssl-config=r watch-path=r c check i interactive test watch',
      language: 'node',
    }),
  ),
  ...all(
    'ts-node tsx tsm swc-node esr',
    interpreter({ code: 'e eval p print', options: 'P=r project=r r=r require=r tsconfig=r import=r loader=r', language: 'node' }),
  ),
  ...all('deno', (call: Call) => {
    const verb = call.args.find((arg) => !arg.startsWith('-'));
    call.report('code_execution', 'runs a deno program');
    if (/^(install|add|cache|upgrade|vendor)$/.test(verb ?? ''))
      call.report('install', 'downloads modules', { opens: { type: 'hosts', hosts: [], presets: ['npm', 'deno'] } });
    if (verb === 'publish' || verb === 'deploy') call.network('publishes to another host', []);
    if (verb === 'eval') inspectCode(call, call.args.at(-1) ?? '');
    for (const arg of call.args) if (/^https?:/.test(arg)) call.report('blocked', 'runs a program straight from the network');
    if (verb === 'run' || verb === undefined) {
      const file = call.args.filter((arg) => !arg.startsWith('-'))[1];
      if (file !== undefined && !/^https?:|^(npm|jsr):/.test(file)) call.runsFile(file, 'runs a deno program');
      if (file !== undefined && /^(npm|jsr):/.test(file))
        call.report('install', 'downloads and runs a package', { opens: { type: 'hosts', hosts: [], presets: ['npm', 'deno'] } });
      if (file === '-') call.runsStream(call.stdin, 'deno runs what it reads');
    }
    return undefined;
  }),
  ...all('perl perl5', interpreter({ code: 'e E', options: 'I=- M=- m=- C?- D=- F=- i?- l?- 0?- x?- n p a w c T s' })),
  ...all('ruby jruby', interpreter({ code: 'e', options: 'r=- I=- C=r E=- F=- K=- W?- x?- i?- n p a l w c' })),
  ['php', php],
  ...all('lua luajit texlua', interpreter({ code: 'e', options: 'l=- W i' })),
  ...all('Rscript R r littler', interpreter({ code: 'e', options: 'f=r file=r q vanilla slave no-save' })),
  ...all('julia', interpreter({ code: 'e eval E print', options: 'L=r load=r J=r sysimage=r project?- p=- t=-' })),
  ...all('osascript', interpreter({ code: 'e', options: 'l=-' })),
  ...all('pwsh powershell', interpreter({ code: 'c command Command C EncodedCommand enc', options: 'f=r file=r File=r', oneDash: true })),
  ['guile', interpreter({ code: 'c', options: 'l=r s=r e=- L=- C=- x=- q' })],
  ...all(
    'tclsh wish racket sbcl clisp ecl clojure clj bb scala groovy kotlin swipl octave-cli octave maxima gnuplot scheme chicken-csi csi jsc qjs hermes erl escript runghc runhaskell stack-run cling root js d8 wasmtime wasmer java jshell',
    interpreter({ code: 'e eval', options: 'f=- cp=- classpath=- jar=r D=- load=r l=r' }),
  ),
];
