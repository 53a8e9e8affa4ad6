import { HOLE, SOME, type Text } from '../text.ts';
import { inspectCode } from './code.ts';
import { all } from './define.ts';
import { launched } from './launched.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const VIM = optionTable(
  'c=- cmd=- S=r u=r U=r s=r w=w W=w i=w r=r T=- t=- q?r V?- o? O? p? startuptime=w servername=- remote-send=- remote-expr=- remote? R Z m M e E es Es n N y d b x X h',
);

/** An editor shows what it changes. */
function edits(call: Call, path: Text): void {
  call.read(path);
  call.write(path);
}

/** Ex commands that start a program: `:!cmd`, `:r !cmd`, `:w !cmd`, `system()`. */
function exCommand(call: Call, text: Text): void {
  const bang = /^\s*:*\s*(?:silent!?\s+)?(?:\d*,?\d*|%)?\s*(?:[a-z]+\s*)?!\s*(.+)$/s.exec(text)?.[1];
  if (bang !== undefined) call.runsText(bang, `${call.name} runs a shell command`);
  for (const match of text.matchAll(/\b(?:system|systemlist|term_start|jobstart|job_start|termopen)\s*\(\s*["']([^"']*)["']/g))
    call.runsText(match[1] ?? '', `${call.name} runs a shell command`);
  for (const match of text.matchAll(/\b(?:terminal|term)\s+(.+)$/g)) call.runsText(match[1] ?? '', `${call.name} opens a terminal`);
  const program = /^\s*:*\s*(?:lua|luado|py|python|py3|python3|pyx|perl|ruby|rubydo|perldo)\s+(.+)$/s.exec(text)?.[1];
  if (program !== undefined) inspectCode(call, program);
  const written = /^\s*:?\s*(?:sav|saveas|w|write|wq|x)!?\s+([^!|>\s][^|]*)$/.exec(text)?.[1];
  if (written !== undefined) call.write(written.trim());
}

/** In ex mode `-s` is silence and takes no file. */
const EX = optionTable('c=- cmd=- S=r u=r U=r w=w W=w i=w T=- t=- V?- s R Z m M e E n N y d b x X h v');

const vim: Program = (call) => {
  const exMode = call.name === 'ex' || call.args.some((arg) => /^-[A-Za-z]*[eE]/.test(arg) && !arg.startsWith('--'));
  const words = readWords(call.args, exMode ? EX : VIM);
  call.report('code_execution', 'opens an editor, which runs its configuration');
  for (const { name, value, role } of words.options) {
    if ((name === 'c' || name === 'cmd' || name === 'remote-send' || name === 'remote-expr') && value !== undefined) exCommand(call, value);
    else if (role === 'r' && value !== undefined && /^[SuUs]$/.test(name) && !/^(NONE|NORC|DEFAULTS)$/.test(value))
      for (const line of call.runsFile(value, 'the editor runs a script')?.text?.split('\n') ?? []) exCommand(call, line);
    else if (role === 'w' && value !== undefined) call.write(value);
  }
  for (const word of words.operands) {
    if (word.startsWith('+')) exCommand(call, word.slice(1));
    else if (word !== '-') edits(call, word);
  }
  if (call.stdin.text !== undefined && (words.has('s', 'es', 'Es', 'e') || call.name === 'ex'))
    for (const line of call.stdin.text.split('\n')) exCommand(call, line);
  return undefined;
};

const ed: Program = (call) => {
  const words = readWords(call.args, optionTable('p=- s E G l r v'));
  for (const word of words.operands) edits(call, word.replace(/^!/, ''));
  const first = words.operands[0];
  if (first?.startsWith('!')) call.runsText(first.slice(1), 'ed reads the output of a command');
  if (call.stdin.text === undefined) {
    call.report('unknown', 'ed reads commands that cannot be known from the text');
    return undefined;
  }
  for (const line of call.stdin.text.split('\n')) {
    const bang = /^\s*[\d,$.%]*\s*(?:[rwe]\s*)?!(.*)$/.exec(line)?.[1];
    if (bang !== undefined) call.runsText(bang, 'ed runs a shell command');
    const written = /^\s*[\d,$.%]*\s*[wW]\s+([^!].*)$/.exec(line)?.[1];
    if (written !== undefined) call.write(written.trim());
  }
  return undefined;
};

const plain: Program = (call) => {
  call.report('code_execution', 'opens an editor, which runs its configuration');
  for (const word of call.args) if (!/^[-+]/.test(word)) edits(call, word);
  return undefined;
};

const emacs: Program = (call) => {
  call.report('code_execution', 'runs an editor and its programs');
  const words = readWords(call.args, optionTable('l=r load=r eval=- f=- funcall=- script=r insert=r batch q Q nw', false));
  for (const { name, value } of words.options) {
    if (name === 'eval' && value !== undefined) inspectCode(call, value);
    if ((name === 'l' || name === 'load' || name === 'script') && value !== undefined) call.runsFile(value, 'emacs runs a program file');
  }
  return undefined;
};

const gdb: Program = (call) => {
  call.report('code_execution', 'runs a debugger');
  const words = readWords(
    call.args,
    optionTable(
      'ex=- eval-command=- iex=- x=r command=r p=- pid=- c=r core=r s=r symbols=r cd=r d=r directory=r tty=- init-command=r batch q n nx args o=- O=- k=- one-line=- one-line-before-file=- S=r source=r',
      true,
    ),
  );
  for (const { name, value, role } of words.options) {
    if (/^(ex|eval-command|iex|o|O|one-line|one-line-before-file)$/.test(name)) {
      const command = /^\s*(?:shell|!|make|platform shell|pipe [^|]*\|)\s*(.+)$/.exec(value ?? '')?.[1];
      if (command !== undefined) call.runsText(command, 'the debugger runs a shell command');
      const program = /^\s*(?:python|py|pi|guile|gu|script)\s+(.+)$/s.exec(value ?? '')?.[1];
      if (program !== undefined) inspectCode(call, program);
    }
    if (name === 'args') launched(call);
    // `gdb -p $!`: what this very shell has started.
    if (/^(p|pid)$/.test(name) && value !== SOME)
      call.report('system_write', 'attaches to a running process', {
        opens: { type: 'uncontained', why: 'the process lives outside the run' },
      });
    if (role === 'r' && /^(x|command|init-command|S|source)$/.test(name)) call.runsFile(value ?? HOLE, 'the debugger runs a script');
  }
  return undefined;
};

export const EDITORS: readonly (readonly [string, Program])[] = [
  ...all('vim vi nvim view vimdiff ex rvim gvim nvi elvis', vim),
  ...all('ed red', ed),
  ...all('nano pico micro joe jed kak hx helix code codium subl mcedit gedit kate atom cursor zed', plain),
  ...all('emacs emacsclient', emacs),
  ...all('gdb lldb cgdb rr', gdb),
  ...all('screen tmux byobu zellij', (call: Call) => {
    call.report('code_execution', 'opens a terminal that outlives the command');
    for (const arg of call.args) if (/\s/.test(arg)) call.shell(arg);
    const at = call.args.findIndex((arg, index) => index > 0 && /^(bash|sh|zsh)$/.test(arg));
    if (at >= 0) call.inner(at);
    else if (call.name === 'screen') {
      const words = readWords(call.args, optionTable('S=- t=- T=- e=- h=- s=- p=- c=r d m D R r x X Q A U L i q'), true);
      const [from] = words.at;
      if (from !== undefined && !words.has('X', 'Q', 'r', 'x')) call.inner(from);
    } else {
      // Behind the options of `new-session` and its likes stands a command.
      const verb = call.args.findIndex((arg) =>
        /^(new(-session|-window)?|neww|split-window|splitw|respawn-(pane|window)|popup|display-popup)$/.test(arg),
      );
      const words = readWords(
        call.args.slice(verb + 1),
        optionTable('s=- n=- c=- t=- x=- y=- e=- F=- l=- w=- h=- d P A D E X k a b v f Z'),
        true,
      );
      const [from] = words.at;
      if (verb >= 0 && from !== undefined && words.operands.length > 1) call.inner(verb + 1 + from);
    }
    return undefined;
  }),
];
