import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExecutionConfig } from '../../src/execution/core-types.ts';
import type { RunSpec } from '../../src/execution/index.ts';
import { give } from './files.ts';
import type { Outside } from './outside.ts';
import { PRELUDE } from './prelude.ts';

export const LIMITS = {
  memory_bytes: 2 ** 30,
  pids: 200,
  cpus: 2,
  file_bytes: 2 ** 28,
  open_files: 1024,
  disk_bytes: 2 ** 28,
} as const;

/** One attempt's own Workspace in the outside that all attempts share. */
export interface Scene {
  readonly outside: Outside;
  readonly workspace: string;
  /** A folder outside, and the person's home: what nobody may read or change. */
  readonly out: string;
  readonly user_home: string;
  readonly host_env: Readonly<Record<string, string>>;
  /** In the environment of every process of the script, to find them by. */
  readonly tag: string;
  /** What the script prints when something worked. */
  readonly claim: string;
  /** Makes a file in the Workspace (or at an absolute path), owned like everything there. */
  file(path: string, text: string, mode?: number): string;
  script(text: string): string;
  spec(command: string, more: Partial<RunSpec>): RunSpec;
}

/** A repository with a nested one, and settings of tools, some of them there and some not. */
const FILES: Readonly<Record<string, string>> = {
  'notes.txt': 'notes\n',
  'packages/inner/notes.txt': 'notes\n',
  'packages/app/.claude/settings.json': '{}\n',
  'packages/app/.mcp.json': '{}\n',
  'packages/web/notes.txt': 'notes\n',
  '.claude/settings.json': '{}\n',
  '.mcp.json': '{}\n',
  '.goosehints': 'hints\n',
  'tools/envrc': 'true\n',
};
const REPOSITORY: Readonly<Record<string, string>> = {
  HEAD: 'ref: refs/heads/main\n',
  config: '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
  'hooks/README.sample': 'none\n',
  'objects/info/.keep': '',
  'refs/heads/.keep': '',
};

export function makeScene(outside: Outside, config: Pick<ExecutionConfig, 'user_home' | 'host_env'>, id: string): Scene {
  const workspace = join(outside.base, 'work', id.replaceAll(/\W/g, '-'));
  rmSync(workspace, { recursive: true, force: true });
  const write = (path: string, text: string, mode = 0o644): string => {
    const full = path.startsWith('/') ? path : join(workspace, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    chmodSync(full, mode);
    return full;
  };
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  for (const folder of ['.git', 'packages/inner/.git']) {
    for (const [path, text] of Object.entries(REPOSITORY)) write(join(folder, path), text);
  }
  give(workspace, outside.drop);
  const tag = `tag${outside.random()}`;
  const claim = `claim${outside.random()}`;
  return {
    outside,
    workspace,
    out: outside.out,
    user_home: config.user_home,
    host_env: config.host_env,
    tag,
    claim,
    file(path, text, mode) {
      const full = write(path, text, mode);
      if (outside.drop !== undefined) chownSync(full, outside.drop, outside.drop);
      return full;
    },
    script(text) {
      const names = { ...outside.variables, WORK: workspace, CLAIM: claim, ESCAPE_TAG: tag };
      const lines = Object.entries(names).map(([name, value]) => `${name}='${value}'`);
      return `${lines.join('\n')}\nexport ESCAPE_TAG\n${PRELUDE}\n${text}`;
    },
    spec: (command, more) => ({
      command,
      cwd: workspace,
      workspaces: [{ path: workspace, access: 'write' }],
      owner: { organization: 'org', agent: 'agent', run: 'run', workspace },
      stdin: 'closed',
      timeout_ms: 15_000,
      limits: LIMITS,
      openings: [],
      git_config_write: false,
      ...more,
    }),
  };
}
