/**
 * Where version managers and languages keep the rest of what a PATH entry starts. Matched against the entry's real path from
 * its end; `needs` are paths beside it (relative to what `root` captured) that are bound read-only with it. Never a folder that
 * holds credentials: ~/.cargo as a whole has credentials.toml, ~/.config has everything.
 */
export interface ToolchainRule {
  readonly name: string;
  /** The first group is the folder that `needs` count from. */
  readonly entry: RegExp;
  readonly needs: readonly string[];
  /** Variables that tell the tool where that is, when it isn't where it looks by itself. */
  readonly env?: Readonly<Record<string, string>>;
}

export const TOOLCHAINS: readonly ToolchainRule[] = [
  { name: 'nvm', entry: /^(.*\/versions\/node\/[^/]+)\/bin$/, needs: ['.'] },
  { name: 'fnm', entry: /^(.*\/node-versions\/[^/]+\/installation)\/bin$/, needs: ['.'] },
  { name: 'volta', entry: /^(.*\/\.volta)\/bin$/, needs: ['.'] },
  { name: 'pyenv', entry: /^(.*\/\.pyenv)\/(?:shims|bin|versions\/[^/]+\/bin|plugins\/[^/]+\/(?:shims|bin))$/, needs: ['.'] },
  { name: 'rbenv', entry: /^(.*\/\.rbenv)\/(?:shims|bin)$/, needs: ['.'] },
  { name: 'asdf', entry: /^(.*)\/\.asdf\/(?:shims|bin|installs\/.*\/bin)$/, needs: ['.asdf', '.tool-versions', '.asdfrc'] },
  { name: 'mise', entry: /^(.*\/mise)\/(?:shims|installs\/.*)$/, needs: ['shims', 'installs', 'plugins'] },
  {
    name: 'cargo',
    entry: /^(.*)\/\.cargo\/bin$/,
    needs: ['.cargo/bin', '.cargo/registry', '.cargo/git', '.rustup'],
    env: { RUSTUP_HOME: '.rustup' },
  },
  // Before GOPATH, which is a folder of the same name with other people's sources and the person's own in it.
  {
    name: 'go release',
    entry: /^(.*\/(?:sdk\/go[^/]*|\.gvm\/gos\/[^/]+|\.goenv\/versions\/[^/]+|\.local\/go|go-?\d[^/]*))\/bin$/,
    needs: ['.'],
  },
  { name: 'go', entry: /^(.*\/go)\/bin$/, needs: ['bin', 'pkg/mod'] },
  {
    name: 'local',
    entry: /^(.*\/\.local)\/bin$/,
    needs: ['bin', 'lib', 'share/uv/tools', 'share/uv/python', 'share/pipx', 'pipx', 'share/pnpm'],
  },
  { name: 'uv python', entry: /^(.*\/uv\/python\/[^/]+)\/bin$/, needs: ['.'] },
  { name: 'conda', entry: /^(.*\/(?:miniconda3?|anaconda3?|miniforge3?|mambaforge))\/(?:.*\/)?(?:bin|condabin)$/, needs: ['.'] },
  { name: 'sdkman', entry: /^(.*\/candidates\/[^/]+\/[^/]+)\/bin$/, needs: ['.'] },
  { name: 'bun', entry: /^(.*\/\.bun)\/bin$/, needs: ['bin'] },
  { name: 'deno', entry: /^(.*\/\.deno)\/bin$/, needs: ['bin'] },
  { name: 'dotnet', entry: /^(.*\/\.dotnet)(?:\/tools)?$/, needs: ['.'] },
  { name: 'linuxbrew', entry: /^(\/home\/linuxbrew\/\.linuxbrew)\/s?bin$/, needs: ['.'] },
  { name: 'nix', entry: /^(\/nix\/store)\/.*$/, needs: ['.'] },
  { name: 'node packages', entry: /^(.*\/node_modules)\/\.bin$/, needs: ['.'] },
];

/** A tree with `bin` that isn't in the table (a virtual environment, an unpacked release): these parts of it and no others. */
export const TREE_PARTS = ['bin', 'sbin', 'lib', 'lib64', 'libexec', 'include', 'share', 'conf', 'jmods', 'release', 'pyvenv.cfg'] as const;
/** It counts as such a tree with one of these beside `bin`. */
export const TREE_MARKS = ['lib', 'libexec', 'pyvenv.cfg'] as const;

/** Inherited variables that name a folder of a tool chain, and what of that folder a run gets. */
export const FOLDER_VARIABLES: readonly {
  readonly name: string;
  readonly needs: readonly string[];
  /** The tool makes the folder itself when HOME holds it; otherwise a variable that names nothing is worse than none. */
  readonly makes_itself: boolean;
}[] = [
  { name: 'VIRTUAL_ENV', needs: TREE_PARTS, makes_itself: false },
  { name: 'JAVA_HOME', needs: ['.'], makes_itself: false },
  { name: 'GOPATH', needs: ['bin', 'pkg/mod'], makes_itself: true },
  { name: 'CARGO_HOME', needs: ['bin', 'registry', 'git'], makes_itself: true },
  { name: 'NVM_DIR', needs: ['.'], makes_itself: true },
];

/** Below the home these hold keys and sessions: never bound, whatever names them. */
export const SECRET_FOLDERS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config',
  '.mozilla',
  '.password-store',
  '.local/share/keyrings',
  '.claude',
  '.codex',
  '.gemini',
  '.netrc',
  '.npmrc',
  '.git-credentials',
] as const;
