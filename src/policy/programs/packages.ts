import { LOCAL } from '../shell/stream.ts';
import { HOLE, type Text } from '../text.ts';
import { all, program } from './define.ts';
import { node, npx } from './packages-node.ts';
import { pip, uv } from './packages-python.ts';
import type { Call, Program } from './program.ts';
import { verbs } from './verbs.ts';

const system = (table: string, presets: readonly string[], options = ''): Program =>
  verbs({
    globals: `o=- c=r q y yes s ${options}`,
    options,
    table,
    presets,
    also: (call, _verb, _words, outcomes) => {
      if (outcomes.includes('install'))
        call.report('system_write', 'installs for the whole system', {
          opens: { type: 'uncontained', why: 'the package manager of the host needs its rights' },
        });
      return undefined;
    },
  });

const APT = `
  install|reinstall|upgrade|full-upgrade|dist-upgrade|build-dep|satisfy|source|download : install
  update : net system
  remove|purge|autoremove|autopurge|clean|autoclean|edit-sources|mark|hold|unhold|add-repository : system
  list|search|show|policy|depends|rdepends|madison|showpkg|dump|pkgnames|stats|help|changelog : safe
  * : system
`;

/** Its verbs are options. */
const dpkg: Program = (call) => {
  if (
    !call.args.some((arg) =>
      /^(-[A-Za-z]*[irP]|--(install|unpack|configure|remove|purge|set-selections|add-architecture|force-.*))$/.test(arg),
    )
  )
    return LOCAL;
  for (const word of call.args) if (/\.deb$/.test(word)) call.read(word);
  call.report('install', 'dpkg installs or removes software', { opens: { type: 'hosts', hosts: [], presets: ['debian'] } });
  call.report('system_write', 'installs for the whole system', {
    opens: { type: 'uncontained', why: 'the package manager of the host needs its rights' },
  });
  return undefined;
};

const cargo: Program = (call) => {
  const args = call.args.filter((arg) => !/^\+/.test(arg));
  const run = verbs({
    globals: 'color=- config=c Z=- C=r',
    options:
      'manifest-path=r target-dir=w p=- package=- bin=- example=- features=- F=- target=- j=- config=c path=r git=n registry=- root=w out-dir=w message-format=-',
    table: `
      build|b|check|c|test|t|run|r|bench|clippy|fmt|fix|doc|d|rustc|rustdoc|nextest|miri|expand|llvm-cov|tarpaulin|criterion|package|watch|make|xtask|insta|hack|deny|machete|udeps|wasm|component|leptos|tauri : code
      clean|init|new|generate-lockfile|remove|rm : write
      add : install
      install|update|fetch|vendor|binstall|upgrade|generate : install
      search|info|audit|outdated : net
      publish|yank|owner|login|logout : upload
      tree|metadata|pkgid|locate-project|version|help|read-manifest|verify-project|--list : safe
      uninstall : system
      * : unknown
    `,
    presets: ['crates'],
    also: (inner, verb, words) => {
      const built = verb === 'clean' ? words.value('target-dir') : undefined;
      if (built !== undefined) inner.remove(built, true);
      if (verb === 'watch')
        for (const [index, arg] of inner.args.entries()) if (/^(-s|--shell)$/.test(inner.args[index - 1] ?? '')) inner.shell(arg);
      return undefined;
    },
  });
  return run({ ...call, args, argv: [call.argv[0] ?? 'cargo', ...args] });
};

const go = verbs({
  globals: 'C=r',
  oneDash: true,
  options:
    'exec=p toolexec=p o=w C=r overlay=r modfile=r run=- count=- timeout=- tags=- ldflags=- gcflags=- coverprofile=w cpuprofile=w memprofile=w vettool=p bench=- mod=-',
  table: `
    build|test|run|vet|generate|fmt|fix|tool|bug : code
    list|env|version|doc|help|mod graph|mod why|mod verify|mod|work : safe
    get|install|mod download|mod tidy|mod vendor|work sync : install
    mod init|mod edit|work init|work use|work edit|clean|telemetry : write
    * : unknown
  `,
  presets: ['go'],
  also: (call, verb, words) => {
    if (verb === 'env' && words.has('w', 'u')) call.report('persistence', 'changes the settings of go for the person');
    if (verb === 'run') {
      const first = words.operands[0] ?? '';
      if (/@/.test(first)) call.report('install', 'downloads and runs a module', { opens: { type: 'hosts', hosts: [], presets: ['go'] } });
      else if (/\.go$/.test(first)) call.runsFile(first, 'go runs a program file');
    }
    return undefined;
  },
});

/** `-C DIR`, first of all: the other words are meant there. */
const goes: Program = (call) => {
  const at = call.args.findIndex((arg) => /^--?C(=|$)/.test(arg));
  if (at < 0 || at > 1) return go(call);
  const glued = call.args[at]?.split('=')[1];
  const folder = glued ?? call.args[at + 1] ?? HOLE;
  call.lists(folder);
  const there = call.at(folder.startsWith('/') ? [folder] : call.cwd.map((base) => `${base}/${folder}`));
  return go({ ...there, args: call.args.filter((_, i) => i !== at && (glued !== undefined || i !== at + 1)) });
};

const gem = verbs({
  options: 'i=w install-dir=w n=w bindir=w s=n source=n',
  table: `
    install|update|fetch|i : install
    uninstall|cleanup|pristine : system
    build : code
    push|yank|owner|signin : upload
    list|search|info|which|env|environment|help|contents|dependency|query|specification|outdated : safe
    exec : install code
    * : unknown
  `,
  presets: ['rubygems'],
});

const bundle: Program = (call) => {
  const at = call.args.findIndex((arg) => !arg.startsWith('-'));
  if (call.args[at] === 'exec') {
    call.report('code_execution', 'runs a program of the bundle');
    return call.inner(at + 1);
  }
  return verbs({
    globals: 'gemfile=r',
    table: `
      : install
      install|update|add|lock|package|cache|outdated : install
      check|show|list|info|viz|config|env|help|version|platform : safe
      init|remove|clean|binstubs : write
      console|open|gem : code
      * : unknown
    `,
    presets: ['rubygems'],
  })(call);
};

const nothing: Program = () => LOCAL;

const installs =
  (reason: string, preset: string): Program =>
  (call) => {
    call.report('install', reason, { opens: { type: 'hosts', hosts: [], presets: [preset] } });
    return undefined;
  };

export const PACKAGES: readonly (readonly [string, Program])[] = [
  ...all('npm yarn pnpm bun cnpm', node()),
  ...all('npx pnpx bunx', npx),
  ...all('uvx pipx_run', (call: Call) => {
    call.report('code_execution', 'runs a program of a package');
    call.report('install', 'downloads and runs a package', { opens: { type: 'hosts', hosts: [], presets: ['pypi'] } });
    return undefined;
  }),
  ['corepack', verbs({ table: 'enable|disable : system\n prepare|install|up|use : install\n * : code', presets: ['npm'] })],
  ...all(
    'nvm fnm volta n nodenv',
    verbs({
      table:
        'use|current|ls|list|which|exec|run|alias|deactivate|env|version|default : code\n install|i|pin|ls-remote|list-remote|upgrade : install\n uninstall|remove : system\n * : unknown',
      presets: ['npm'],
    }),
  ),
  ...all(
    'pyenv rbenv asdf mise rtx goenv jenv sdk rustup ghcup opam',
    verbs({
      table:
        ': safe\n local|global|which|version|versions|current|ls|list|where|shims|exec|run|x|env|show|help|doctor|root|shell|rehash|reshim : code\n install|update|upgrade|plugin|component|target|toolchain|default|add|use|self : install\n uninstall|remove : system\n * : unknown',
      presets: ['tools'],
    }),
  ),
  ['uv', uv],
  ...all('pip pip3 pip2', pip),
  [
    'pipx',
    verbs({
      table: 'install|upgrade|upgrade-all|inject|run|reinstall : install\n uninstall : system\n list|environment|help : safe\n * : unknown',
      presets: ['pypi'],
    }),
  ],
  [
    'poetry',
    verbs({
      globals: 'C=r directory=r P=r project=r',
      options: 'with=- without=-',
      table:
        'install|add|update|lock|self : install\n run|build|shell|env : code\n show|check|version|help|about|search|list : safe\n init|new|remove|export|config : write\n publish : upload\n * : unknown',
      presets: ['pypi'],
      also: (call, verb) => (verb === 'run' ? call.inner(call.args.indexOf('run') + 1) : undefined),
    }),
  ],
  [
    'pipenv',
    verbs({
      table:
        'install|sync|update|lock|upgrade : install\n run|shell|scripts : code\n graph|check|verify|help : safe\n clean|uninstall : write\n * : unknown',
      presets: ['pypi'],
      also: (call, verb) => (verb === 'run' ? call.inner(call.args.indexOf('run') + 1) : undefined),
    }),
  ],
  [
    'pdm',
    verbs({
      table:
        'install|add|update|sync|lock : install\n run|build : code\n list|show|info|help : safe\n remove|init|config : write\n publish : upload\n * : unknown',
      presets: ['pypi'],
      also: (call, verb) => (verb === 'run' ? call.inner(call.args.indexOf('run') + 1) : undefined),
    }),
  ],
  [
    'hatch',
    verbs({ table: 'run|build|test|fmt|shell|env : code\n version|status|help : safe\n new : write\n publish : upload\n * : unknown' }),
  ],
  [
    'rye',
    verbs({
      table:
        'sync|add|lock|install|toolchain : install\n run|build|test|lint|fmt : code\n show|list|help : safe\n publish : upload\n * : unknown',
      presets: ['pypi'],
    }),
  ],
  ...all(
    'conda mamba micromamba',
    verbs({
      globals: 'n=- name=- p=w prefix=w',
      table:
        'install|create|update|upgrade|env create|env update : install\n remove|uninstall|clean : write\n list|info|search|env list|env export|help : safe\n activate|deactivate|run|shell|develop : code\n init : persist\n config : persist\n * : unknown',
      presets: ['conda'],
    }),
  ),
  [
    'twine',
    verbs({
      options: 'config-file=r repository-url=n cert=r',
      table: 'upload|register : upload\n check : code\n * : unknown',
      presets: ['pypi'],
    }),
  ],
  ...all('virtualenv', program({ options: 'p=- python=-', words: 'w', does: [['code_execution', 'sets up an environment of python']] })),
  ...all('easy_install', installs('downloads and installs packages', 'pypi')),
  ['cargo', cargo],
  ['go', goes],
  ['gem', gem],
  ...all('bundle bundler', bundle),
  ...all(
    'composer',
    verbs({
      globals: 'd=r working-dir=r',
      table:
        'install|update|require|create-project|upgrade|i|u : install\n run|run-script|exec|test|dump-autoload|dumpautoload : code\n show|info|validate|outdated|licenses|why|depends|status|help|about|diagnose : safe\n remove|init|config|clear-cache : write\n global : install system\n * : code',
      presets: ['packagist'],
    }),
  ),
  ...all(
    'pecl pear cpan cpanm cpanminus luarocks nimble shards dub vcpkg conan cabal stack spago hpack',
    verbs({
      table:
        ': install\n list|show|info|search|path|dump|help|version : safe\n build|test|run|exec|repl|bench|check|clean|eval|ghci|format|script : code\n * : install',
      presets: ['tools'],
    }),
  ),
  [
    'mix',
    verbs({
      table:
        'test|compile|run|format|phx.server|credo|dialyzer|ecto.migrate|ecto.create|phx.routes|release|docs : code\n deps.get|deps.update|local.hex|archive.install|local.rebar : install\n hex.publish : upload\n ecto.drop|ecto.reset : destroy\n help|deps : safe\n * : code',
      presets: ['hex'],
    }),
  ],
  [
    'dotnet',
    verbs({
      options: 'o=w output=w c=- f=- p=-',
      table:
        'build|test|run|publish|pack|format|watch|msbuild|vstest|exec|ef|fsi : code\n restore|add package|tool install|tool restore|tool update|workload|new install|nuget add : install\n nuget push : upload\n add|remove|new|sln|clean|reference : write\n list|help|--info|--list-sdks|--list-runtimes : safe\n * : code',
      presets: ['nuget'],
    }),
  ],
  [
    'nuget',
    verbs({
      table: 'install|restore|update : install\n push|delete : upload\n list|search|help|locals : safe\n pack : code\n * : unknown',
      presets: ['nuget'],
    }),
  ],
  ...all('apt apt-get aptitude', system(APT, ['debian'])),
  ...all('apt-cache apt-file dpkg-query apt-config', nothing),
  ['dpkg', dpkg],
  ['apt-key', program({ words: '-', does: [['system_write', 'changes which packages are trusted']] })],
  ['add-apt-repository', program({ words: '-', does: [['system_write', 'changes where packages come from']] })],
  ...all(
    'dnf yum microdnf zypper apk xbps-install eopkg swupd emerge urpmi',
    system(
      `
    install|in|add|update|up|upgrade|dist-upgrade|dup|reinstall|group|groupinstall|localinstall|download : install
    remove|rm|del|erase|autoremove|clean : system
    list|info|search|se|repolist|repoquery|provides|check-update|history|version : safe
    * : install
  `,
      ['distribution'],
    ),
  ),
  ...all('pacman yay paru', (call: Call) => {
    if (call.args.some((arg) => /^-(Q|Ss|Si|F|T|V)/.test(arg))) return undefined;
    call.report('install', 'installs packages', { opens: { type: 'hosts', hosts: [], presets: ['distribution'] } });
    call.report('system_write', 'changes the packages of the system', {
      opens: { type: 'uncontained', why: 'the package manager of the host needs its rights' },
    });
    return undefined;
  }),
  [
    'rpm',
    (call: Call) => {
      if (!call.args.some((arg) => /^-(q|V)|^--(query|verify|eval)/.test(arg)))
        call.report('system_write', 'changes the packages of the system', {
          opens: { type: 'uncontained', why: 'the package manager of the host needs its rights' },
        });
      return undefined;
    },
  ],
  ...all(
    'brew port',
    verbs({
      table:
        'install|upgrade|update|tap|reinstall|bundle|fetch|cask : install\n uninstall|remove|cleanup|link|unlink|services|autoremove|pin : system\n list|ls|info|search|config|doctor|deps|uses|--prefix|outdated|leaves|help|home|cat|desc : safe\n * : install',
      presets: ['homebrew'],
    }),
  ),
  ...all(
    'snap flatpak',
    system('install|refresh|update : install\n list|info|find|search|version|help : safe\n * : system', ['distribution']),
  ),
  ...all('winget choco scoop', installs('installs software', 'distribution')),
  ...all(
    'pre-commit',
    verbs({
      table:
        'run|validate-config|try-repo : code\n install|install-hooks|init-templatedir : persist\n autoupdate : install\n uninstall|clean|gc : write\n sample-config|help : safe\n * : unknown',
      presets: ['git'],
    }),
  ),
  ...all(
    'husky lefthook simple-git-hooks',
    verbs({ table: ': persist\n install|add|set|init : persist\n run|validate|dump : code\n uninstall : write\n * : persist' }),
  ),
  ...all('changeset changesets', verbs({ table: ': write\n add|version|init|status : code\n publish : upload\n * : code' })),
  ...all('semantic-release release-it np standard-version', (call) => {
    call.report('code_execution', 'runs a release of the project');
    // semantic-release asks its hosts even then.
    if (call.name === 'semantic-release' || !call.args.includes('--dry-run')) call.network('publishes to other hosts', []);
    return undefined;
  }),
];

export type { Text };
