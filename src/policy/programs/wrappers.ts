import { LOCAL, type Stream } from '../shell/stream.ts';
import { HOLE, type Text } from '../text.ts';
import { all, program } from './define.ts';
import { parallel, xargs } from './fan-out.ts';
import { launched } from './launched.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

/** The rest of the words is a command. `skip`: operands of the wrapper before it. */
const prefix = (options: string, skip = 0, also?: (call: Call) => void): Program => {
  const table = optionTable(options);
  return (call) => {
    also?.(call);
    const words = readWords(call.args, table, true);
    for (const { role, value } of words.options) {
      if (role !== 'w' || value === undefined) continue;
      // strace writes to a command behind `|` or `!`.
      if (/^[|!]/.test(value)) call.runsText(value.slice(1), `${call.name} writes to a command`);
      else call.write(value);
    }
    const at = words.at[skip];
    return at === undefined ? undefined : call.inner(at);
  };
};

const PRIVILEGE = 'runs as another user of the system';

const privileged =
  (options: string, skip = 0): Program =>
  (call) => {
    call.report('system_write', PRIVILEGE, { opens: { type: 'uncontained', why: 'containment never gives privileges' } });
    const table = optionTable(options);
    const words = readWords(call.args, table, true);
    if (words.has('e', 'edit')) for (const path of words.operands) call.write(path);
    let at = words.at[skip];
    while (at !== undefined && /^[A-Za-z_]\w*=/.test(call.args[at] ?? '')) {
      const [name, value] = pair(call.args[at] ?? '');
      call.environment(name, value);
      at = at + 1 < call.args.length ? at + 1 : undefined;
    }
    return at === undefined || words.has('e', 'edit') ? undefined : call.inner(at);
  };

const pair = (word: Text): readonly [Text, Text] => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)];

/** `sudoedit`, `sudo -e`: writes the files as root. */
const edits: Program = (call) => {
  call.report('system_write', PRIVILEGE, { opens: { type: 'uncontained', why: 'containment never gives privileges' } });
  for (const word of call.args) if (!word.startsWith('-')) call.write(word);
  return undefined;
};

const ENV = optionTable(
  'u=- unset=- C=r chdir=r S=- split-string=- a=- argv0=- i ignore-environment 0 null v debug block-signal?- default-signal?- ignore-signal?-',
);

const env: Program = (call) => {
  const words = readWords(call.args, ENV, true);
  const split = words.value('S', 'split-string');
  if (split !== undefined) {
    // -S splits the text into words and puts them before the rest.
    const rest = words.at[0] === undefined ? [] : call.args.slice(words.at[0]);
    const parsed = splitString(split);
    return parsed === undefined ? call.shell(split) : envWords(call, [...parsed, ...rest]);
  }
  const at = words.at[0];
  if (at === undefined) {
    call.report('credential_access', 'prints the environment, secrets among them');
    return LOCAL;
  }
  const folder = words.value('C', 'chdir');
  const there = folder === undefined ? call : call.at(folder.startsWith('/') ? [folder] : call.cwd.map((base) => `${base}/${folder}`));
  return envWords(there, call.args.slice(at));
};

function envWords(call: Call, rest: readonly Text[]): Stream | undefined {
  let at = 0;
  while (at < rest.length && /^[^=/]+=/.test(rest[at] ?? '')) {
    const [name, value] = pair(rest[at] ?? '');
    call.environment(name, value);
    at++;
  }
  if (at >= rest.length) {
    call.report('credential_access', 'prints the environment, secrets among them');
    return LOCAL;
  }
  // The words may be another list than the call's own (-S): given in full.
  const tail = rest.slice(at);
  const own = call.args.length - tail.length;
  return call.args.slice(own).every((word, index) => word === tail[index])
    ? call.inner(own)
    : call.inner(call.args.length, { words: tail });
}

function splitString(text: Text): readonly Text[] | undefined {
  if (/[\\${]/.test(text)) return undefined;
  const words: Text[] = [];
  for (const match of text.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)) words.push(match[1] ?? match[2] ?? match[3] ?? '');
  return words;
}

/** Joined words go to a shell: watch, and many others. */
const joined = (options: string): Program => {
  const table = optionTable(options);
  return (call) => {
    const words = readWords(call.args, table, true);
    const at = words.at[0];
    return at === undefined ? undefined : call.shell(call.args.slice(at).join(' '));
  };
};

const script: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable('c=x command=x I=w O=w B=w T=w log-in=w log-out=w log-io=w log-timing=w E=- echo=- m=- o=- q e f a'),
  );
  for (const { role, value } of words.options) {
    if (role === 'x' && value !== undefined) call.shell(value);
    if (role === 'w' && value !== undefined) call.write(value);
  }
  if (!words.has('c', 'command')) call.report('code_execution', 'opens a shell');
  for (const path of words.operands) call.write(path);
  return undefined;
};

const flock: Program = (call) => {
  const words = readWords(call.args, optionTable('c=x command=x w=- timeout=- E=- n s x u o F'), true);
  const [, second] = words.at;
  const [lock] = words.operands;
  if (lock !== undefined && !/^\d+$/.test(lock)) call.write(lock);
  if (second === undefined) {
    const text = words.value('c', 'command');
    return text === undefined ? undefined : call.shell(text);
  }
  if (/^(-c|--command)$/.test(call.args[second] ?? '')) return call.shell(call.args[second + 1] ?? HOLE);
  return call.inner(second);
};

const su: Program = (call) => {
  call.report('system_write', PRIVILEGE, { opens: { type: 'uncontained', why: 'containment never gives privileges' } });
  const words = readWords(call.args, optionTable('c=x command=x session-command=x s=- shell=- g=- G=- w=- l m p P'));
  for (const { role, value } of words.options) if (role === 'x' && value !== undefined) call.shell(value);
  return undefined;
};

/** Two programs have this name: `sg GROUP -c TEXT`, and the short one of ast-grep, which is the one that agents call. */
const AST_GREP = /^(run|scan|test|new|lsp|completions|-p|--pattern)$/;
const sg: Program = (call) => {
  if (!AST_GREP.test(call.args[0] ?? '')) return su(call);
  call.report('code_execution', 'runs the rules of the project');
  return undefined;
};

const chroot = (options: string): Program => {
  const table = optionTable(options);
  return (call) => {
    call.report('system_write', 'enters another root or namespace', {
      opens: { type: 'uncontained', why: 'containment never gives privileges' },
    });
    const words = readWords(call.args, table, true);
    const at = words.at[call.name === 'chroot' ? 1 : 0];
    return at === undefined ? undefined : call.inner(at);
  };
};

const ARCH = 'B F I L R S T X Z v 3 4gb verbose uname-2.6 addr-no-randomize';

/** `setarch x86_64 cmd`, and `setarch -R cmd`: the architecture may be left out where there are options. */
const setarch: Program = (call) => {
  const [first, second] = readWords(call.args, optionTable(ARCH), true).at;
  if (first === undefined) return undefined;
  const named = /^(linux(32|64)|i[3-6]86|x86_64|aarch64|armv?\w*|ppc\w*|s390x?|mips\w*|sparc\w*|riscv\w*|uname26)$/.test(
    call.args[first] ?? '',
  );
  const at = named ? second : first;
  return at === undefined ? undefined : call.inner(at);
};

const busybox: Program = (call) => (call.args[0] === undefined || call.args[0].startsWith('--') ? undefined : call.inner(0));

const expectProgram: Program = (call) => {
  call.report('code_execution', 'runs an expect script');
  const text = call.args.indexOf('-c') >= 0 ? (call.args[call.args.indexOf('-c') + 1] ?? '') : (call.stdin.text ?? '');
  for (const match of text.matchAll(/\b(?:spawn|exec|system)\s+([^\n;]+)/g)) call.runsText(match[1] ?? '', 'expect starts a program');
  return undefined;
};

export const WRAPPERS: readonly (readonly [string, Program])[] = [
  ['env', env],
  ['timeout', prefix('s=- signal=- k=- kill-after=- foreground preserve-status v verbose', 1)],
  ['gtimeout', prefix('s=- signal=- k=- kill-after=-', 1)],
  ['nice', prefix('n=- adjustment=-')],
  ['ionice', prefix('c=- n=- p=- P=- u=- class=- classdata=- t')],
  ['chrt', prefix('p=- T=- P=- D=- f r o b i', 1)],
  ['taskset', prefix('p a c=- cpu-list=-', 1)],
  ['nohup', prefix('')],
  ['setsid', prefix('c f w ctty fork wait')],
  ['stdbuf', prefix('i=- o=- e=- input=- output=- error=-')],
  ['unbuffer', prefix('p')],
  ['time', prefix('f=- format=- o=w output=w a p v append portability verbose')],
  ['strace', prefix('e=- o=w p=- s=- u=- a=- E=- P=- O=- S=- b=- f c T t v')],
  ['ltrace', prefix('e=- o=w p=- s=- u=- a=- l=- n=- f c')],
  ['prlimit', prefix('p=- pid=- noheadings raw o=- nofile?- nproc?- as?- cpu?- core?- fsize?- memlock?- stack?- data?-')],
  ['systemd-inhibit', prefix('what=- who=- why=- mode=-')],
  ['dbus-run-session', prefix('config-file=r')],
  ['xvfb-run', prefix('a auto-servernum n=- s=- server-args=- e=w w=- f=w')],
  ['faketime', prefix('f m', 1)],
  ['eatmydata', prefix('')],
  [
    'numactl',
    prefix('i=- interleave=- p=- preferred=- N=- cpunodebind=- C=- physcpubind=- m=- membind=- a all l localalloc H hardware s show'),
  ],
  ...all('tini dumb-init catatonit', prefix('c r s g v w p=- e=-')),
  ['catchsegv', prefix('')],
  ['proot', prefix('r=- b=- w=- 0 S=- R=-')],
  ['fakeroot', prefix('l=- s=w i=r u b=-')],
  ['setarch', setarch],
  ...all('linux32 linux64 i386 i486 i586 i686 x86_64 uname26', prefix(ARCH)),
  ...all(
    'ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1',
    prefix('library-path=- argv0=- preload=- audit=- glibc-hwcaps-prepend=-'),
  ),
  ['caffeinate', prefix('t=- w=-')],
  ['retry', prefix('t=- times=- d=- delay=- m=-')],
  ['chronic', prefix('v e')],
  ['ts', program({ words: '-' })],
  ['sponge', program({ options: 'a', words: 'w' })],
  ['ifne', prefix('n')],
  [
    'hyperfine',
    (call) => {
      const words = readWords(
        call.args,
        optionTable(
          'w=- warmup=- r=- runs=- p=x prepare=x s=x setup=x c=x cleanup=x conclude=x S=- shell=- export-json=w export-markdown=w export-csv=w n=- command-name=- P=- L=- parameter-list=- i m=- M=- style=- N output=- input=r',
        ),
      );
      for (const { role, value } of words.options) {
        if (role === 'x' && value !== undefined) call.shell(value);
        if (role === 'w' && value !== undefined) call.write(value);
      }
      for (const text of words.operands) call.shell(text);
      return undefined;
    },
  ],
  ...all('entr', (call) => {
    const words = readWords(call.args, optionTable('s c d n p r z a'), true);
    const at = words.at[0];
    if (at === undefined) return undefined;
    return words.has('s') ? call.shell(call.args[at] ?? HOLE) : call.inner(at);
  }),
  [
    'sudo',
    privileged(
      'u=- user=- g=- group=- p=- prompt=- C=- close-from=- D=- chdir=- h=- host=- R=- chroot=- r=- role=- t=- type=- T=- command-timeout=- U=- other-user=- E e edit i s b n S k K l v A H P',
    ),
  ],
  ['sudoedit', edits],
  ['doas', privileged('u=- C=r L n s')],
  ['pkexec', privileged('user=- disable-internal-agent keep-cwd')],
  ['run0', privileged('u=- user=- g=- group=- D=- chdir=- setenv=- unit=- property=- slice=-')],
  ['gosu', privileged('', 1)],
  ['su-exec', privileged('', 1)],
  ['runuser', su],
  ['su', su],
  ['sg', sg],
  [
    'setpriv',
    privileged(
      'reuid=- regid=- groups=- securebits=- inh-caps=- bounding-set=- ambient-caps=- selinux-label=- apparmor-profile=- pdeathsig=-',
    ),
  ],
  [
    'capsh',
    (call) => {
      call.report('system_write', 'starts a shell with other rights');
      const dashes = call.args.indexOf('--');
      const text = call.args.indexOf('-c', Math.max(0, dashes));
      if (text >= 0) call.shell(call.args[text + 1] ?? HOLE);
      return undefined;
    },
  ],
  ['chroot', chroot('userspec=- groups=- skip-chdir')],
  [
    'nsenter',
    chroot(
      't=- target=- m? u? i? n? p? U? C? T? S=- G=- r?- w?- F a e mount?- uts?- ipc?- net?- pid?- user?- cgroup?- root?- wd?- setuid=- setgid=-',
    ),
  ],
  [
    'unshare',
    chroot(
      'm u i n p U C T r c f mount?- uts?- ipc?- net?- pid?- user?- cgroup?- map-user=- map-group=- map-users=- map-groups=- R=- root=- w=- wd=- S=- setuid=- G=- setgid=- propagation=- setgroups=- mount-proc?- kill-child?- map-root-user fork',
    ),
  ],
  [
    'bwrap',
    (call) => {
      call.report('code_execution', 'starts a sandbox of its own');
      const dashes = call.args.indexOf('--');
      if (dashes >= 0) return call.inner(dashes + 1);
      launched(call);
      return undefined;
    },
  ],
  ['xargs', xargs],
  ['gxargs', xargs],
  ['parallel', parallel],
  ['watch', joined('n=- interval=- d? differences?- t no-title b beep e errexit g chgexit c color p precise q=- equexit=- r x w')],
  ['script', script],
  ['flock', flock],
  ['busybox', busybox],
  ['toybox', busybox],
  ['expect', expectProgram],
  ['rlwrap', prefix('f=r H=w a?- b=- C=- D=- e=- g=- h i=- l=w m?- M=- O=- p?- P=- q=- s=- S=- t=- w=- z=p')],
  [
    'direnv',
    (call) => {
      if (call.args[0] === 'exec') {
        call.report('code_execution', 'runs the .envrc of a folder');
        return call.inner(2);
      }
      if (/^(allow|permit|grant)$/.test(call.args[0] ?? ''))
        call.report('persistence', 'lets a file of the workspace run whenever its folder is entered');
      else call.report('code_execution', 'runs the .envrc of a folder');
      return undefined;
    },
  ],
  [
    'nix',
    (call) => {
      call.report('install', 'may download packages', { opens: { type: 'hosts', hosts: [], presets: ['nix'] } });
      const at = call.args.findIndex((arg) => arg === '-c' || arg === '--command');
      if (at >= 0) call.inner(at + 1);
      return undefined;
    },
  ],
  [
    'nix-shell',
    (call) => {
      call.report('install', 'may download packages', { opens: { type: 'hosts', hosts: [], presets: ['nix'] } });
      const at = call.args.findIndex((arg) => arg === '--run' || arg === '--command');
      if (at >= 0) call.shell(call.args[at + 1] ?? HOLE);
      return undefined;
    },
  ],
];
