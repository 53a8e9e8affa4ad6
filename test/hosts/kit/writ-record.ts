import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram } from './run-program.ts';

/** What Writ itself says about a run afterwards, through its own commands. */
export interface WritRecord {
  readonly verified: boolean;
  readonly verify_text: string;
  readonly jobs: string;
  /** One per decided or refused action, oldest first. */
  readonly actions: readonly { readonly tool: string; readonly client: string }[];
  /** The processes that decided them. */
  readonly deciders: readonly number[];
  /** Commands that were refused. */
  readonly refused: readonly string[];
  /** Processes of the run that are still alive, each with its command line. */
  readonly left: readonly string[];
}

interface AuditRow {
  readonly ref: { readonly chain: string };
  readonly type: string;
  readonly tool?: string;
  readonly data: {
    readonly client?: { name: string; version: string; protocol: string };
    readonly arguments?: { readonly command?: string };
    /** Of the first row of a chain: the process whose rows they are. */
    readonly writer?: { readonly pid: number };
  };
}

export async function readRecord(writ: string, env: Readonly<Record<string, string>>, cwd: string): Promise<WritRecord> {
  const left = await processesLeft(cwd);
  const run = (...args: readonly string[]): ReturnType<typeof runProgram> => runProgram([writ, ...args], { cwd, env, deadline_ms: 60_000 });
  const verify = await run('audit', 'verify');
  const jobs = await run('job', 'list');
  const list = await run('audit', 'list', '--json', '--limit', '1000');
  const rows = ((JSON.parse(list.stdout) as { events: AuditRow[] }).events ?? []).reverse();
  const asked = rows.filter(({ type }) => type === 'action.decided' || type === 'action.refused');
  const chains = new Set(asked.map(({ ref }) => ref.chain));
  return {
    verified: verify.code === 0,
    verify_text: verify.stdout + verify.stderr,
    jobs: jobs.stdout + jobs.stderr,
    actions: asked.map(({ tool = '', data: { client } }) => ({
      tool,
      client: client === undefined ? '' : `${client.name} ${client.version}, MCP ${client.protocol}`,
    })),
    deciders: rows.filter(({ ref }) => chains.has(ref.chain)).flatMap(({ data }) => data.writer?.pid ?? []),
    refused: rows.filter(({ type }) => type === 'action.refused').map(({ data }) => data.arguments?.command ?? ''),
    left,
  };
}

const PATIENCE_MS = 15_000;

/** Processes that work in the folder or name it, once nothing changes any more or patience is at its end. */
async function processesLeft(folder: string): Promise<readonly string[]> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const left = processesOf(folder);
    if (left.length === 0 || Date.now() > deadline) return left;
    await delay(100);
  }
}

function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const facts = `${argv} ${readFileSync(`/proc/${pid}/environ`, 'utf8')} ${readlinkSync(`/proc/${pid}/cwd`)}`;
        return facts.includes(folder) ? [`${pid}: ${argv.slice(0, 200)}`] : [];
      } catch {
        // Gone, a zombie, or another user's.
        return [];
      }
    });
}
