import { z } from 'zod';
import type { Execution, Limits, Owner, RunSpec } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import type { Assessment } from '../policy/types.ts';
import { requireContainment } from './containment-required.ts';
import { withNamedHosts } from './named-hosts.ts';
import { openedBy, withoutAbsent } from './opened.ts';
import { parseWith, wireSchema } from './schema.ts';
import { finishedAnswer, shellOutput, startedAnswer, yieldedAnswer } from './shell-answer.ts';
import type { CallContext, Tool, ToolOutput } from './tool.ts';
import { resolveCwd } from './working-directory.ts';

const MAX_COMMAND_BYTES = 1024 * 1024;
const MAX_TIMEOUT_MS = 3_600_000;

/** What holds in the Workspace of a call. */
export interface ShellSettings {
  readonly limits: Limits;
  /** Deadline of a foreground call that names none. */
  readonly timeout_ms: number;
  /** Most a foreground call may ask for. */
  readonly max_timeout_ms: number;
  /** A foreground call still running after this becomes a job; per host, since hosts give up at different times. */
  readonly yield_ms: number;
  /** Longest life of a background job. */
  readonly job_runtime_ms: number;
}

export type AssessShell = (command: string, cwd: string, context: CallContext) => Assessment | Promise<Assessment>;

const input = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= MAX_COMMAND_BYTES, 'must be at most 1 MiB')
    .describe('bash text, run as `bash -c` would. A first line `#!bg` starts it as a background job.'),
  cwd: z.string().min(1).max(4096).optional().describe('Working directory inside the Workspace; relative to its root. Default: the root.'),
  timeout_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Deadline for the whole command, never extended by output. Default 120000; for a background job 3600000.'),
  yield_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Wait this long; a command still running then goes on as a job and the answer carries its job_id and the output so far.'),
  background: z.boolean().optional().describe('Start as a job at once and answer with its job_id.'),
  ports: z
    .array(z.int().min(1024).max(65_535))
    .min(1)
    .max(16)
    .optional()
    .describe('Only for a background job: ports it listens on that are to be reachable as 127.0.0.1:PORT of this machine (a dev server).'),
  description: z.string().max(200).optional().describe('A few words on what it is for; shown in lists.'),
});
type ShellInput = z.infer<typeof input>;

export function createShell(
  execution: Execution,
  settingsOf: (owner: Owner, client?: string) => ShellSettings,
  assess: AssessShell,
): Tool<ShellInput> {
  return {
    name: 'shell',
    description:
      'Run a bash command in the Workspace, contained by the kernel: no network but what was allowed for it, a private HOME and /tmp, files outside hidden or read-only. ' +
      'A non-zero exit is a normal result. Processes left behind are ended with the command; for servers and long work use background jobs.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(shellOutput, 'output'),
    annotations: { title: 'Run a command', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    parse: (raw) => {
      const parsed = parseWith(input, raw);
      if (!parsed.ok) return parsed;
      if (parsed.input.command.includes('\0')) return { ok: false, problem: 'Invalid arguments: command: contains a NUL character.' };
      if (parsed.input.ports !== undefined && !isBackground(parsed.input))
        return { ok: false, problem: 'Invalid arguments: ports: only a background job publishes ports; add "background": true.' };
      return parsed;
    },
    assess: async (call, context) => {
      const { max_timeout_ms } = settingsOf(context.owner, context.client);
      if (call.timeout_ms !== undefined && call.timeout_ms > max_timeout_ms) {
        return new AppError('invalid_arguments', `timeout_ms: the configuration allows at most ${max_timeout_ms} here.`);
      }
      const cwd = resolveCwd(call.cwd, context.workspaces);
      if (cwd instanceof AppError) return cwd;
      const workspaces = context.workspaces.map(({ path }) => path);
      return withNamedHosts(await assess(call.command, cwd, context), cwd, workspaces);
    },
    show: (call, context) => {
      const cwd = resolveCwd(call.cwd, context.workspaces);
      return {
        what: call.command,
        cwd: cwd instanceof AppError ? (call.cwd ?? '') : cwd,
        ...(call.description === undefined ? {} : { description: call.description }),
      };
    },
    run: async (call, context, decision) => {
      const opened = withoutAbsent(openedBy(decision));
      if (!opened.uncontained) await requireContainment(execution, decision);
      else if (isBackground(call))
        throw new AppError('invalid_arguments', 'A command that was let out of containment can only run in the foreground.', {
          fix: 'Ask for it without "background": nothing could prove that all of a job outside of containment has ended.',
        });
      const settings = settingsOf(context.owner, context.client);
      const cwd = resolveCwd(call.cwd, context.workspaces);
      if (cwd instanceof AppError) throw cwd;
      const background = isBackground(call);
      const timeout_ms = call.timeout_ms ?? (background ? settings.job_runtime_ms : settings.timeout_ms);
      const spec: RunSpec = {
        command: call.command,
        cwd,
        workspaces: context.workspaces,
        owner: context.owner,
        stdin: 'closed',
        timeout_ms,
        limits: settings.limits,
        ...opened,
        ...(call.ports === undefined ? {} : { ports: call.ports }),
        git_config_write: decision.git_config_write,
        action: context.action,
        ...(call.description === undefined ? {} : { description: call.description }),
      };
      if (background) return startedAnswer(await execution.jobs.start(spec, context.signal));
      return foreground(execution, spec, call.yield_ms ?? settings.yield_ms, context);
    },
  };
}

function isBackground(call: ShellInput): boolean {
  return call.background === true || /^#!bg[ \t]*\r?(\n|$)/.test(call.command);
}

async function foreground(execution: Execution, spec: RunSpec, yield_ms: number, context: CallContext): Promise<ToolOutput> {
  const handle = await execution.start(spec, context.signal);
  context.whenRecorded(() => execution.confirm([handle.exec_id]));
  const first = await firstOf(handle.done, yield_ms);
  if (first === 'yield') {
    const view = await handle.view();
    // A promotion that fails (it just ended, or no more jobs fit) leaves it in the foreground, where its own deadline bounds the wait.
    const job = await handle.promote().catch(() => null);
    if (job) return yieldedAnswer(job, view);
  }
  const result = first === 'yield' ? await handle.done : first;
  if (!result) throw new AppError('internal', 'A foreground command became a job that nobody asked for.');
  return finishedAnswer(result, handle.exec_id, spec);
}

async function firstOf<T>(done: Promise<T>, ms: number): Promise<T | 'yield'> {
  let timer: NodeJS.Timeout | undefined;
  const yielded = new Promise<'yield'>((resolve) => {
    timer = setTimeout(resolve, ms, 'yield');
  });
  try {
    return await Promise.race([done, yielded]);
  } finally {
    clearTimeout(timer);
  }
}
