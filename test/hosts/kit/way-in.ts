import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startUp, type UpProcess } from '../../helpers/up-process.ts';
import { runProgram } from './run-program.ts';
import { WRIT } from './writ.ts';

/** How a host reaches Writ: it starts `writ mcp`; the same, which relays to a `writ up`; or over HTTP with a token. */
export type Way = 'stdio' | 'relay' | 'http';

export interface WayIn {
  /** What `writ connect` tells a person to paste. */
  readonly printed: string;
  readonly up: UpProcess | undefined;
  /** The token that the host must use and nobody may see. */
  readonly token: string | undefined;
  /** The command line of the host after what `writ connect` tells a person to type before it. */
  start(argv: readonly string[]): readonly string[];
}

/** The folders of a run, and the environment of the person who has set Writ up. */
export interface Setting {
  readonly home: string;
  readonly workspace: string;
  readonly env: Record<string, string>;
}

export async function openWayIn(
  way: Way,
  connect: string,
  setting: Setting,
  /** What `writ up` is started through, and what is said of the token beside its Workspace. */
  { wrapper = [], token = [] }: { readonly wrapper?: readonly string[]; readonly token?: readonly string[] } = {},
): Promise<WayIn> {
  const writ = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runProgram([WRIT, ...args], { cwd: setting.workspace, env: setting.env, deadline_ms: 60_000 });
    if (code !== 0) throw new Error(`writ ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  if (way !== 'http') {
    const up = way === 'relay' ? await startUp({ ...setting, remove: () => {} }, ['--port', '0'], [...wrapper, WRIT]) : undefined;
    return { printed: pasted(await writ('connect', connect))[0] ?? '', up, token: undefined, start: (argv) => argv };
  }
  await writ('workspace', 'add', 'work', setting.workspace);
  await writ('token', 'create', 'agent', '--workspace', 'work', ...token);
  const up = await startUp({ ...setting, remove: () => {} }, ['--port', '0'], [...wrapper, WRIT]);
  const [printed = '', typed = ''] = pasted(await writ('connect', connect, '--http', '--token', 'agent'));
  return {
    printed,
    up,
    token: readFileSync(join(setting.home, 'tokens', 'agent'), 'utf8').trim(),
    start: (argv) => ['/bin/sh', '-c', `${typed}\nexec "$0" "$@"`, ...argv],
  };
}

/** The indented blocks of the output, each as a person would copy it. */
function pasted(output: string): readonly string[] {
  const blocks = output.match(/(?:^ {4}.*\n)+/gm) ?? [];
  return blocks.map((block) => block.replaceAll(/^ {4}/gm, '').trimEnd());
}
