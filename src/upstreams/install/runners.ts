import type { Wanted } from './types.ts';

/** What an option with a value means: a package in place of the name, one more beside it, the registry, or nothing that counts here. */
type Meaning = 'package' | 'also' | 'registry' | 'ignored';

/** A program that fetches a package and starts what is in it. */
export interface Runner {
  readonly ecosystem: Wanted['ecosystem'];
  /** Its name and the words that follow it. */
  readonly words: readonly string[];
  /** Options without a value. */
  readonly switches: ReadonlySet<string>;
  readonly values: Readonly<Record<string, Meaning>>;
  /** Options after the name of the package are its own up to a `--`, as for `npm exec`. */
  readonly options_anywhere?: true;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const NPM_SWITCHES = words(
  '-y --yes --no --no-install -q --quiet -s --silent -d --verbose --offline --prefer-offline --prefer-online --ignore-scripts --no-audit --no-fund --no-update-notifier --no-progress --legacy-peer-deps',
);
const NPM_VALUES = {
  '-p': 'package',
  '--package': 'package',
  '--registry': 'registry',
  '--loglevel': 'ignored',
  '--cache': 'ignored',
} as const;
const PNPM = {
  switches: words('-s --silent -y --yes --prefer-offline --offline'),
  values: {
    '-p': 'package',
    '--package': 'package',
    '--registry': 'registry',
    '--reporter': 'ignored',
    '--loglevel': 'ignored',
    '--allow-build': 'ignored',
  },
} as const;
const BUN = {
  switches: words('--bun -y --yes --silent --verbose --no-install'),
  values: { '-p': 'package', '--package': 'package' },
} as const;
const UV = {
  switches: words(
    '-q --quiet -v --verbose --isolated --refresh --no-refresh -n --no-cache --offline --no-progress --native-tls --system-certs --no-config --no-env-file -U --upgrade --reinstall --no-build --no-python-downloads',
  ),
  values: {
    '--from': 'package',
    '-w': 'also',
    '--with': 'also',
    '-i': 'registry',
    '--index-url': 'registry',
    '--default-index': 'registry',
    '--color': 'ignored',
    '--cache-dir': 'ignored',
    '--link-mode': 'ignored',
  },
} as const;

export const RUNNERS: readonly Runner[] = [
  { ecosystem: 'npm', words: ['npx'], switches: NPM_SWITCHES, values: NPM_VALUES },
  { ecosystem: 'npm', words: ['npm', 'exec'], switches: NPM_SWITCHES, values: NPM_VALUES, options_anywhere: true },
  { ecosystem: 'npm', words: ['npm', 'x'], switches: NPM_SWITCHES, values: NPM_VALUES, options_anywhere: true },
  { ecosystem: 'npm', words: ['pnpm', 'dlx'], ...PNPM },
  { ecosystem: 'npm', words: ['pnpx'], ...PNPM },
  { ecosystem: 'npm', words: ['yarn', 'dlx'], switches: words('-q --quiet'), values: { '-p': 'package', '--package': 'package' } },
  { ecosystem: 'npm', words: ['bunx'], ...BUN },
  { ecosystem: 'npm', words: ['bun', 'x'], ...BUN },
  { ecosystem: 'python', words: ['uvx'], ...UV },
  { ecosystem: 'python', words: ['uv', 'tool', 'run'], ...UV },
  {
    ecosystem: 'python',
    words: ['pipx', 'run'],
    switches: words('-q --quiet -v --verbose --no-cache'),
    values: { '--spec': 'package', '--with': 'also', '-i': 'registry', '--index-url': 'registry' },
  },
];

/** Others that fetch when they start, by how their words begin and what comes among the rest. What they fetch can't be pinned here. */
export const FETCHERS: readonly { readonly words: readonly string[]; readonly with?: RegExp }[] = [
  { words: ['uv', 'run'], with: /^(?:-w|--with|--with-requirements|--with-editable)(?:=|$)/ },
  { words: ['deno'], with: /^(?:npm:|jsr:|https?:)/ },
  { words: ['go', 'run'], with: /^[\w.-]+\.[a-z]+\/.*@/ },
  { words: ['nix', 'run'] },
  { words: ['nix', 'shell'] },
  // The words of a shell are not taken apart here.
  ...['sh', 'bash', 'zsh', 'dash'].map((shell) => ({
    words: [shell],
    with: /(?:^|[\s;&|(/])(?:npx|npm (?:exec|x)|pnpx|pnpm dlx|yarn dlx|bunx|bun x|uvx|uv tool run|pipx run)\s/,
  })),
];
