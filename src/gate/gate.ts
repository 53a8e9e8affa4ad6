import type { AuditLog } from '../audit/types.ts';
import type { Owner } from '../execution/types.ts';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError, toAppError } from '../kernel/errors.ts';
import { type ActionId, newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { decide } from '../policy/index.ts';
import type { Assessment, Decision, Finding } from '../policy/types.ts';
import { CALL_TOOL, type CallContext, type ForeignResult, type Tool } from '../tools/tool.ts';
import type { Judged, People, Permission } from './ask.ts';
import { maskedRelay } from './masked-relay.ts';
import { meantCall } from './meant-call.ts';
import { answerUnasked, type GatePolicy, onlyReading } from './non-interactive.ts';
import { openedOrigins, reportedOrigins } from './origins.ts';
import { canonicalArguments, digest, jsonOnly, judged } from './record-data.ts';
import { denied, forgedAnswer, redactRefusal, refusal } from './refusals.ts';
import { stripReserved } from './reserved-arguments.ts';
import { resolveTool } from './resolve-tool.ts';
import { shownArguments } from './shown-arguments.ts';
import type { Gate, GateAnswer, GateRequest, ListedTool } from './types.ts';

export interface GateParts {
  readonly tools: readonly Tool[];
  /** Those of upstreams, by name, as they are just now; a built-in of the same name goes first. */
  foreign?(): ReadonlyMap<string, Tool>;
  /** Why a tool of an upstream isn't there just now, where its name says whose it is. */
  missing?(name: string): AppError | undefined;
  /** In place of more tools of upstreams than this a list has these, with which they are found and called. */
  readonly finding?: { readonly tools: readonly Tool[]; above(): number };
  /** Whether a tool, by its resolved name, is in a toolset. */
  allows(toolset: string, tool: string, owner?: Owner): boolean;
  /** What holds in the Workspace of a call; read before the call is made. */
  policyOf(owner: Owner): GatePolicy;
  /** Absent: nobody can be asked, nothing is remembered. */
  people?(): Promise<People>;
  /** Resolves to the log, which is opened at the first call and not at the start. */
  audit(): Promise<AuditLog>;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The path of one call (DESIGN section 3), in this order and with no way around: resolve, toolset, reserved arguments, validate,
 * assess, decide, record, run, bound, record. Whatever goes wrong on it is an answer, never an exception.
 */
export function createGate(parts: GateParts): Gate {
  const finders = parts.finding?.tools ?? [];
  const byName = new Map([...parts.tools, ...finders].map((tool) => [tool.name, tool]));
  /** A policy never changes: another one is another object. */
  const policyDigests = new WeakMap<object, string>();
  const policyDigest = (rules: GatePolicy['rules']): string => {
    const known = policyDigests.get(rules) ?? digest(canonicalJson(rules));
    policyDigests.set(rules, known);
    return known;
  };

  const find = (name: string): Tool | undefined => byName.get(name) ?? parts.foreign?.().get(name);
  const seen = (toolset: string, tools: Iterable<Tool>): readonly Tool[] =>
    [...tools].filter((tool) => tool.hidden !== true && parts.allows(toolset, tool.name));

  return {
    list(toolset) {
      const foreign = seen(toolset, parts.foreign?.().values() ?? []).filter(({ name }) => !byName.has(name));
      const many = parts.finding !== undefined && foreign.length > parts.finding.above();
      return [...seen(toolset, parts.tools), ...(many ? seen(toolset, finders) : foreign)].map(listed);
    },

    call: async (request) => {
      const action = newId('act', parts.clock.now());
      const answer = await walk(meant(request), action).catch((thrown: unknown) => refusal(action, toAppError(thrown)));
      return answer.type === 'refused' ? redactRefusal(answer, parts.redactor) : answer;
    },
  };

  /** Whatever names a tool in its arguments is a call of that tool, to every check and in the record. */
  function meant(request: GateRequest): GateRequest {
    if (resolveTool(request.tool, find)?.name !== CALL_TOOL) return request;
    const call = meantCall(stripReserved(request.arguments).value);
    return call === undefined || resolveTool(call.tool, find)?.name === CALL_TOOL ? request : { ...request, ...call };
  }

  async function walk(request: GateRequest, action: ActionId): Promise<GateAnswer> {
    const started = parts.clock.monotonic();
    const tool = resolveTool(request.tool, find);
    const { value: raw, notes } = stripReserved(request.arguments);
    const name = tool?.name ?? request.tool.slice(0, 128);
    const seen = {
      arguments: parts.redactor.value(tool?.recorded?.(raw) ?? raw),
      digest: digest(canonicalArguments(raw)),
      ...(request.client ? { client: parts.redactor.value(request.client) } : {}),
    };

    const refuse = async (error: AppError, decision?: Decision): Promise<GateAnswer> => {
      await record(request, action, name, 'action.refused', {
        ...seen,
        notes,
        code: error.code,
        reason: parts.redactor.text(error.message),
        ...judged(decision, parts.redactor),
      });
      return refusal(action, error, decision);
    };

    const recordForged = (approval: string | undefined, reason: string): Promise<void> =>
      record(request, action, name, 'approval.refused', { ...(approval === undefined ? {} : { approval }), reason });

    if (request.forged !== undefined) {
      await recordForged(undefined, request.forged);
      return refuse(forgedAnswer(request.forged));
    }
    if (!tool) {
      // Of one that isn't in the toolset nothing is told, not even that.
      const absent = (spelled: string): AppError | undefined =>
        parts.allows(request.toolset, spelled, request.owner) ? parts.missing?.(spelled) : undefined;
      const known = resolveTool(request.tool, absent);
      return refuse(known ?? new AppError('unknown_tool', `There is no tool named "${request.tool.slice(0, 128)}".`));
    }
    if (!parts.allows(request.toolset, tool.name, request.owner)) {
      return refuse(
        new AppError('denied_by_policy', `The tool "${tool.name}" is not in the toolset "${request.toolset}" of this connection.`),
      );
    }
    const parsed = tool.parse(raw);
    if (!parsed.ok) return refuse(new AppError('invalid_arguments', parsed.problem));
    if (request.workspaces.length === 0 && tool.anywhere !== true) {
      const problem = request.workspace_problem;
      return refuse(
        new AppError('workspace_unavailable', problem?.message ?? 'No Workspace could be chosen.', problem ? { fix: problem.fix } : {}),
      );
    }

    const afterwards: (() => Promise<void>)[] = [];
    const context: CallContext = {
      owner: request.owner,
      action,
      toolset: request.toolset,
      ...(request.client ? { client: request.client.name } : {}),
      workspaces: request.workspaces,
      signal: request.signal,
      progress: (message) => request.progress(parts.redactor.text(message)),
      ...(request.relay ? { relay: maskedRelay(request.relay, parts.redactor) } : {}),
      whenRecorded: (then) => void afterwards.push(then),
    };
    const judge = async (): Promise<Judged | AppError> => {
      const assessed = await tool.assess(parsed.input, context);
      if (assessed instanceof AppError) return assessed;
      const assessment = await armed(assessed, request.owner);
      const policy = parts.policyOf(request.owner);
      return { assessment, policy, decision: decide(assessment, policy.rules) };
    };
    const first = await judge();
    if (first instanceof AppError) return refuse(first);
    if (first.decision.verdict === 'deny') return refuse(denied(first.decision), first.decision);
    const permit = async (): Promise<Permission> => {
      const { decision, policy } = first;
      const reading = onlyReading(decision, policy.nonInteractive);
      if (reading) return { type: 'refused', error: reading };
      if (decision.verdict !== 'prompt') return { type: 'go', decision };
      if (parts.people === undefined) {
        const error = answerUnasked(decision, policy.nonInteractive, false);
        return error ? { type: 'refused', error } : { type: 'go', decision };
      }
      const shown = tool.show?.(parsed.input, context) ?? { what: shownArguments(raw), cwd: request.owner.workspace };
      // Most calls ask nobody, and none of the first ones should wait for what they don't need.
      const { askPermission } = await import('./ask.ts');
      return askPermission(
        { request, action, tool: name, arguments: raw, shown, judged: first, judgeAgain: judge },
        { people: await parts.people(), redactor: parts.redactor, recordForged },
      );
    };
    const permission = await permit();
    if (permission.type === 'input_required') return { type: 'input_required', action, approval: permission.approval };
    if (permission.type === 'refused') return refuse(permission.error, first.decision);
    const { decision, by } = permission;
    if (request.signal.aborted) return refuse(new AppError('cancelled', 'The request was cancelled before it started.'), decision);
    const opened = openedOrigins(decision, request.workspaces);
    if (opened.length > 0) await (await parts.people?.())?.taints.add(request.owner.run, opened);
    const unclaimed = await permission.claim?.();
    if (unclaimed) return refuse(unclaimed, decision);

    await record(request, action, name, 'action.decided', {
      ...seen,
      notes,
      policy: policyDigest(first.policy.rules),
      ...judged(decision, parts.redactor),
      ...(by ? { by } : {}),
    });
    let output: Awaited<ReturnType<Tool['run']>>;
    try {
      output = await tool.run(parsed.input, context, decision);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'internal') parts.logger.error(`${tool.name} failed`, { action, error: String(error.cause ?? error) });
      const known = error.data === undefined ? {} : { data: error.data };
      await taint(request, action, reportedOrigins(error));
      await conclude(request, action, tool.name, started, { outcome: error.code, reason: error.message, ...known }, afterwards);
      return refusal(action, error, decision);
    }
    await taint(request, action, output.origins ?? [], output.of_run);
    await conclude(request, action, tool.name, started, { outcome: 'done', ...output.evidence }, afterwards, output.goes_on);
    return {
      type: 'result',
      action,
      decision,
      notes,
      output: {
        structured: parts.redactor.value(output.structured) as JsonObject,
        text: parts.redactor.text(output.text),
        ...(output.images === undefined ? {} : { images: output.images }),
        ...(output.foreign === undefined ? {} : { foreign: parts.redactor.value(output.foreign) as ForeignResult }),
        evidence: parts.redactor.value(output.evidence) as JsonObject,
      },
    };
  }

  /** What untrusted text may have asked for is asked about (DESIGN section 5). */
  async function armed(assessment: Assessment, owner: Owner): Promise<Assessment> {
    const { arms } = assessment;
    if (arms === undefined) return assessment;
    const origins = (await (await parts.people?.())?.taints.originsOf(owner.run)) ?? [];
    const others = origins.filter((origin) => origin !== arms.own);
    if (others.length === 0) return assessment;
    const reason = `${arms.reason}, and text from ${others.slice(0, 3).join(', ')} has been read`;
    const finding: Finding = { effect: 'unknown', verdict: 'prompt', span: [0, 0], argv: [], reason };
    return { ...assessment, findings: [...assessment.findings, finding] };
  }

  /** What it says is true whatever becomes of the store: then this process still knows, and the answer is not held back. */
  async function taint(request: GateRequest, action: ActionId, origins: readonly string[], of_run = request.owner.run): Promise<void> {
    const { run } = request.owner;
    if (origins.length === 0 && of_run === run) return;
    try {
      const taints = (await parts.people?.())?.taints;
      await taints?.add(run, origins);
      await taints?.carry(of_run, run);
    } catch (thrown) {
      parts.logger.warn('where untrusted text came from is remembered by this process only', {
        action,
        reason: toAppError(thrown).message,
      });
    }
  }

  async function record(request: GateRequest, action: ActionId, tool: string, type: string, data: Record<string, unknown>): Promise<void> {
    const log = await parts.audit();
    await log.record({ type, at: parts.clock.now(), ...request.owner, action, tool, data: jsonOnly(data) });
  }

  /**
   * The outcome row is queued: a full disk or a stopping process must not turn what happened into an error. Only where something goes
   * on is it waited for: nobody would look for what that belongs to if this process were killed after the answer and before the row.
   */
  async function conclude(
    request: GateRequest,
    action: ActionId,
    tool: string,
    started: number,
    data: Record<string, unknown>,
    afterwards: readonly (() => Promise<void>)[],
    waited = false,
  ): Promise<void> {
    const log = await parts.audit();
    const ms = Math.round(parts.clock.monotonic() - started);
    const safe = parts.redactor.value({ ...data, ms }) as Record<string, unknown>;
    const event = { type: 'action.finished', at: parts.clock.now(), ...request.owner, action, tool, data: jsonOnly(safe) };
    const stored = (): void => {
      for (const then of afterwards) {
        then().catch((thrown: unknown) =>
          parts.logger.warn('what was to follow the record of a call failed', { action, reason: toAppError(thrown).message }),
        );
      }
    };
    if (!waited) return log.enqueue(event, stored);
    try {
      await log.record(event, { essential: true });
      stored();
    } catch (thrown) {
      parts.logger.warn('the outcome of a call is stored later', { action, reason: toAppError(thrown).message });
      log.enqueue(event, stored);
    }
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function listed(tool: Tool): ListedTool {
  const { name, description, inputSchema, outputSchema, annotations, definition } = tool;
  return {
    ...{ name, description, inputSchema, annotations },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(definition === undefined ? {} : { definition }),
  };
}
