import { lstatSync } from 'node:fs';
import type { RunSpec } from '../execution/types.ts';
import type { Decision } from '../policy/types.ts';

/** Programs whose new path is a folder; what others make where nothing is yet is taken for a file. */
const MAKES_FOLDER = /^(mkdir|git (clone|init|worktree|submodule)|cargo (new|init)|python3? -m venv|virtualenv|rsync|unzip)\b/;

function makes({ findings }: Decision, path: string): 'file' | 'folder' {
  const about = findings.filter(({ opens }) => opens?.type === 'path' && opens.path === path);
  return about.some(({ argv: [program = '', ...rest] }) => MAKES_FOLDER.test([program.split('/').at(-1), ...rest].join(' ')))
    ? 'folder'
    : 'file';
}

/** What a decision opens, in the words of execution: exactly that, and for one run. */
export function openedBy(decision: Decision): Pick<RunSpec, 'openings' | 'network' | 'uncontained'> {
  const { opens } = decision;
  // Then all of it is open.
  if (opens.some(({ type }) => type === 'uncontained')) return { openings: [], uncontained: true };
  const hosts = new Set<string>();
  const presets = new Set<string>();
  for (const opening of opens) {
    if (opening.type !== 'hosts') continue;
    for (const host of opening.hosts) hosts.add(host);
    for (const preset of opening.presets) presets.add(preset);
  }
  return {
    openings: opens.filter((opening) => opening.type === 'path').map(({ path, access }) => ({ path, access, make: makes(decision, path) })),
    ...(hosts.size + presets.size === 0 ? {} : { network: { hosts: [...hosts], presets: [...presets] } }),
  };
}

/** What isn't there can't be opened for reading, and the program says so itself: `gh` works without its configuration. */
export function withoutAbsent<O extends Pick<RunSpec, 'openings'>>(opened: O): O {
  return { ...opened, openings: opened.openings.filter(({ path, access }) => access === 'write' || !isAbsent(path)) };
}

function isAbsent(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR');
  }
}
