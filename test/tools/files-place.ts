import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { createFilesView } from '../../src/execution/files/view.ts';
import type { ProbeResult, WorkspaceBind } from '../../src/execution/types.ts';
import { AppError } from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import { assessPaths, decide } from '../../src/policy/index.ts';
import type { Assessment, Decision, PolicyConfig } from '../../src/policy/types.ts';
import { type AssessFiles, createFileAccess } from '../../src/tools/files/access.ts';
import { createMarkers } from '../../src/tools/files/markers.ts';
import { createPatch } from '../../src/tools/files/patch.ts';
import { createReadFile } from '../../src/tools/files/read-file.ts';
import { createSearchFiles } from '../../src/tools/files/search-files.ts';
import { createWriteFile } from '../../src/tools/files/write-file.ts';
import type { CallContext, Tool, ToolOutput } from '../../src/tools/tool.ts';

/** The file tools over real files, real policy and the real view of a run, without a gate. */
export interface FilesPlace {
  readonly workspace: string;
  /** Of the person: what is in it no run sees. */
  readonly home: string;
  readonly writ_home: string;
  /** Makes files in the Workspace. */
  fill(tree: Readonly<Record<string, string | Buffer>>): void;
  /** What policy says, or the refusal. */
  decide(tool: string, args: unknown): Promise<Decision | AppError>;
  /** The answer of the tool. `yes`: a person opens what is asked for. Rejects with the refusal; a question nobody answers is `no_channel`. */
  call(tool: string, args: unknown, options?: CallOptions): Promise<ToolOutput>;
  remove(): void;
}

export interface CallOptions {
  readonly yes?: boolean;
  readonly signal?: AbortSignal;
  /** In place of what policy says. */
  readonly decision?: Decision;
  /** Between the decision and the run. */
  readonly meanwhile?: () => void;
}

const NO_RULES: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };

/** `uid`: whose Workspace it is, for root only. `contained`: searches get their sandbox. */
export function makeFilesPlace(
  given: {
    uid?: number;
    contained?: boolean;
    /** The Workspace lies in the person's home. */
    inHome?: boolean;
    access?: WorkspaceBind['access'];
    also?: readonly WorkspaceBind[];
    known_values?: readonly string[];
  } = {},
): FilesPlace {
  const { uid, contained = false, inHome = false, access: bind = 'write', also = [], known_values = [] } = given;
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-files-')));
  chmodSync(base, 0o711);
  const [workspace, home, writ_home] = [join(base, inHome ? 'home/code/work' : 'work'), join(base, 'home'), join(base, 'writ-home')];
  for (const folder of [workspace, home, writ_home]) mkdirSync(folder, { mode: 0o755, recursive: true });
  const give = (path: string): void => {
    if (uid !== undefined) chownSync(path, uid, uid);
  };
  give(workspace);
  const probe = async (): Promise<ProbeResult> =>
    contained ? ({ ok: true } as ProbeResult) : { ok: false, cause: 'not in this test', fix: '', detail: '', probed_at: 0 };
  const view = createFilesView(
    {
      home: writ_home,
      host_env: { PATH: '/usr/bin:/bin' },
      user_home: home,
      shared_root: join(base, 'shared'),
      bwrap_candidates: ['/usr/bin/bwrap'],
    },
    { probe },
  );
  const workspaces: readonly WorkspaceBind[] = [{ path: workspace, access: bind }, ...also];
  const access = createFileAccess(
    async () => view,
    (tool, uses, around) => judgedElsewhere(base, { tool, uses, around, home, workspaces }),
  );
  const markers = createMarkers(createRedactor({ known_values }));
  const all: readonly Tool[] = [
    createReadFile(access, markers),
    createWriteFile(access, markers),
    createPatch(access, markers),
    createSearchFiles(access, async () => view, markers),
  ] as readonly Tool[];
  const tools = new Map(all.map((tool) => [tool.name, tool]));

  const contextOf = (signal: AbortSignal): CallContext => ({
    owner: { organization: 'org', agent: 'agent', run: 'run', workspace },
    action: 'act',
    toolset: 'default',
    workspaces,
    signal,
    progress: () => {},
    whenRecorded: () => {},
  });
  const prepare = (name: string, args: unknown): { tool: Tool; input: unknown } => {
    const tool = tools.get(name);
    if (!tool) throw new Error(`no tool ${name}`);
    const parsed = tool.parse(args);
    if (!parsed.ok) throw new AppError('invalid_arguments', parsed.problem, { data: { reason: 'bad_args' } });
    return { tool, input: parsed.input };
  };
  const judge = async (tool: Tool, input: unknown, context: CallContext): Promise<Decision | AppError> => {
    const assessment = await tool.assess(input, context);
    return assessment instanceof AppError ? assessment : decide(assessment, NO_RULES);
  };

  return {
    workspace,
    home,
    writ_home,
    fill(tree) {
      for (const [name, content] of Object.entries(tree)) {
        const path = join(workspace, name);
        mkdirSync(dirname(path), { recursive: true });
        for (let folder = dirname(path); folder.startsWith(workspace); folder = dirname(folder)) give(folder);
        writeFileSync(path, content);
        give(path);
      }
    },
    decide(name, args) {
      const { tool, input } = prepare(name, args);
      return judge(tool, input, contextOf(AbortSignal.timeout(30_000)));
    },
    async call(name, args, { yes = false, signal = AbortSignal.timeout(30_000), meanwhile, decision: given } = {}) {
      const { tool, input } = prepare(name, args);
      const context = contextOf(signal);
      const decision = given ?? (await judge(tool, input, context));
      if (decision instanceof AppError) throw decision;
      if (decision.verdict === 'deny') throw new AppError('denied_by_policy', decision.findings[0]?.reason ?? '');
      if (decision.verdict === 'prompt' && !yes) {
        throw new AppError('no_channel', decision.findings[0]?.reason ?? '', { data: { reason: 'asked', effects: decision.effects } });
      }
      meanwhile?.();
      const output = await tool.run(input, context, decision);
      const checked = new AjvJsonSchemaValidator().getValidator(tool.outputSchema ?? {})(JSON.parse(JSON.stringify(output.structured)));
      if (!checked.valid) throw new Error(`${name} answers what its schema doesn't say: ${checked.errorMessage}`);
      return output;
    },
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The test's folders lie in /tmp, which policy takes for a run's own: it is shown other names for them. */
function judgedElsewhere(
  base: string,
  asked: {
    readonly tool: string;
    readonly uses: Parameters<AssessFiles>[1];
    readonly around: Parameters<AssessFiles>[2];
    readonly home: string;
    readonly workspaces: readonly WorkspaceBind[];
  },
): Assessment {
  const ELSEWHERE = '/data/test';
  const there = (path: string): string => path.replace(base, ELSEWHERE);
  const back = (path: string): string => path.replace(ELSEWHERE, base);
  const { tool, uses, around, home, workspaces } = asked;
  const paths = (access: WorkspaceBind['access']): readonly string[] =>
    workspaces.filter((one) => one.access === access).map(({ path }) => there(path));
  const assessment = assessPaths(
    tool,
    uses.map(({ access, path }) => ({ access, path: there(path) })),
    {
      cwd: there(around.cwd),
      home: there(home),
      workspaces: paths('write'),
      readable: paths('read'),
      facts: {
        ...around.facts,
        realpath: (path) => {
          const real = around.facts.realpath(back(path));
          return real === undefined ? undefined : there(real);
        },
      },
    },
  );
  const findings = assessment.findings.map((finding) =>
    finding.opens?.type === 'path' ? { ...finding, opens: { ...finding.opens, path: back(finding.opens.path) } } : finding,
  );
  return { ...assessment, findings };
}

/** The reason of a refusal, as `data.reason` has it, or its code. */
export async function reasonOf(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome;
    return 'done';
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const reason = thrown.data?.['reason'];
    return typeof reason === 'string' ? reason : thrown.code;
  }
}
