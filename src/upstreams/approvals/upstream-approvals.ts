import { realpathSync } from 'node:fs';
import type { AuditLog } from '../../audit/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import type { UpstreamSettings } from '../types.ts';
import { difference } from './difference.ts';
import { afterSight, afterYes, judgeServerRecord, judgeToolRecord, type ToolFacts } from './judge.ts';
import { listed } from './listed.ts';
import { type Pin, pinOf } from './pin.ts';
import { createRecords, findRecord, recordFor, type ToolRecord, type UpstreamKey, type UpstreamRecord } from './records.ts';
import { backendIdentity, type Concealing, serverIdentity } from './server-identity.ts';
import { byName, MAX_RECORDED, putRecords, putSights } from './tool-records.ts';
import { type Answer, type Backend, type Judgement, keyOf, type UpstreamApprovals } from './types.ts';

export interface UpstreamApprovalsParts extends Concealing {
  /** Real path of the Writ home. */
  readonly home: string;
  readonly organization: string;
  readonly clock: Clock;
  audit(): Promise<AuditLog>;
  /** Of the installed package, where whoever asks doesn't say it. */
  versionOf?(settings: UpstreamSettings): string | undefined;
  /** WRIT_APPROVE_MCP=1: this process takes a yes for granted where nobody said no, and writes none down. */
  readonly approve_all?: boolean;
}

/** In one audit row. */
const TOOLS_PER_ROW = 100;

export function createUpstreamApprovals(parts: UpstreamApprovalsParts): UpstreamApprovals {
  const { clock } = parts;
  const records = createRecords(parts.home);

  const record = async (type: string, { project, name }: UpstreamKey, data: Record<string, unknown>): Promise<void> => {
    const log = await parts.audit();
    const event = { type, at: clock.now(), organization: parts.organization, data: { upstream: name, project, ...data } };
    await log.record(event, { level: 'full', essential: type.endsWith('.denied') || type.endsWith('.revoked') });
  };
  const recordTools = async (type: string, key: UpstreamKey, tools: readonly object[], data: Record<string, unknown>): Promise<void> => {
    for (let at = 0; at < tools.length; at += TOOLS_PER_ROW)
      await record(type, key, { ...data, tools: tools.slice(at, at + TOOLS_PER_ROW) });
  };

  const serverPin = (settings: UpstreamSettings, { version = parts.versionOf?.(settings) }: Backend): Pin =>
    pinOf(serverIdentity(settings, version, parts));
  const once = (judgement: Judgement): Judgement =>
    parts.approve_all === true && (judgement.state === 'unknown' || judgement.state === 'changed')
      ? { state: 'approved', sha256: judgement.sha256, once: true }
      : judgement;

  /** What was taken for granted and is in the audit, by upstream; few, since settings name them. */
  const told = new Map<string, string>();
  const tellOnce = async (
    what: 'server' | 'tools',
    { project, name }: UpstreamKey,
    digests: string,
    tell: () => Promise<void>,
  ): Promise<void> => {
    const id = [what, project, name].join('\0');
    if (told.get(id) === digests) return;
    await tell();
    told.set(id, digests);
  };

  const unusable = (reason: string, pin: Pin): Judgement => ({
    state: 'unknown',
    sha256: pin.sha256,
    reason,
    difference: difference(undefined, pin),
  });

  return {
    async judgeServer(settings, backend = {}) {
      const pin = serverPin(settings, backend);
      const read = records.read();
      // Its tools won't be approved; and what can't be read may hold a no, so a yes for one run doesn't go over it.
      if (!read.ok) return settings.source === 'operator' ? { state: 'approved', sha256: pin.sha256 } : unusable(read.problem, pin);
      const key = keyOf(settings);
      if (!isReal(key)) return unusable(notReal(key), pin);
      const known = findRecord(read.upstreams, key);
      if (settings.source === 'operator' && known?.server?.state !== 'denied') return { state: 'approved', sha256: pin.sha256 };
      const judged = once(judgeServerRecord(known, pin));
      if (judged.state === 'approved' && judged.once) {
        const data = { sha256: pin.sha256, by: 'WRIT_APPROVE_MCP', once: true };
        await tellOnce('server', key, pin.sha256, () => record('upstream.approved', key, data));
      }
      return judged;
    },

    async judgeTools(settings, tools, { version = parts.versionOf?.(settings), signal } = {}) {
      const key = keyOf(settings);
      const backend = pinOf(backendIdentity(settings, version, parts)).sha256;
      const seen = tools.map(({ name, definition, held, flags = [] }) => {
        const needs_answer = settings.source === 'project' || settings.require_approval || held;
        return { name, facts: { pin: pinOf(definition), backend, needs_answer, flags, why: whyAsked(settings, held) } satisfies ToolFacts };
      });
      const judge = (upstream: UpstreamRecord | undefined) => {
        const known = byName(upstream);
        return seen.map(({ name, facts }) => ({ name, judgement: judgeToolRecord(known.get(name), facts) }));
      };
      const read = records.read();
      const problem = !read.ok ? read.problem : isReal(key) ? undefined : notReal(key);
      if (!read.ok || problem !== undefined)
        return seen.map(({ name, facts }) => ({ name, judgement: unusable(problem ?? '', facts.pin) }));

      // Most often nothing is new, and then nobody needs the lock.
      const at = clock.now();
      const before = findRecord(read.upstreams, key);
      const known = byName(before);
      const news = (map: ReadonlyMap<string, ToolRecord>) =>
        seen.filter(({ name, facts }) => afterSight(map.get(name), name, facts, at) !== undefined);
      const judged =
        parts.approve_all === true || news(known).length === 0
          ? judge(before)
          : await records.update(async (upstreams) => {
              const upstream = recordFor(upstreams, key);
              const answer = judge(upstream);
              const fresh = news(byName(upstream));
              const left = putSights(upstream, fresh, at);
              const changes = answer.filter(
                ({ name, judgement }) => judgement.state === 'changed' && fresh.some((one) => one.name === name),
              );
              await recordTools('upstream_tool.changed', key, changes.map(named), {});
              const first = fresh.filter(({ name }) => !changes.some((change) => change.name === name));
              await recordTools(
                'upstream_tool.seen',
                key,
                first.map(({ name, facts }) => ({ name, sha256: facts.pin.sha256, asked: facts.needs_answer })),
                {},
              );
              const value = answer.map(({ name, judgement }) =>
                left.has(name) ? { name, judgement: tooMany(judgement) } : { name, judgement },
              );
              return { value, write: fresh.length > 0 };
            }, signal);
      const answers = judged.map(({ name, judgement }) => ({ name, judgement: once(judgement) }));
      const taken = answers.filter(({ judgement }) => judgement.state === 'approved' && judgement.once);
      const digests = taken.map(({ judgement }) => judgement.sha256).join();
      if (taken.length > 0) {
        const data = { by: 'WRIT_APPROVE_MCP', once: true };
        await tellOnce('tools', key, digests, () => recordTools('upstream_tool.approved', key, taken.map(named), data));
      }
      return answers;
    },

    async approveServer(settings, { sha256, by, ...backend }) {
      const pin = serverPin(settings, backend);
      if (pin.sha256 !== sha256) return refusal('changed', settings.name);
      const key = keyOf(settings);
      if (!isReal(key)) throw new AppError('invalid_arguments', notReal(key));
      return records.update(async (upstreams): Promise<{ value: Answer; write: boolean }> => {
        await record('upstream.approved', key, { sha256, by });
        recordFor(upstreams, key).server = { state: 'approved', at: clock.now(), by, pin: { ...pin, fields: [...pin.fields] } };
        return { value: { ok: true }, write: true };
      });
    },

    approveTools: (key, tools, by) =>
      records.update(async (upstreams) => {
        const upstream = findRecord(upstreams, key);
        const value = tools.map(({ name, sha256 }) => {
          const known = byName(upstream).get(name);
          const after = afterYes(known, sha256, by, clock.now());
          return {
            name,
            sha256,
            after,
            answer: after === undefined ? refusal(known === undefined ? 'unknown' : 'changed', name) : { ok: true as const },
          };
        });
        const yes = value.flatMap(({ after }) => (after === undefined ? [] : [after]));
        await recordTools(
          'upstream_tool.approved',
          key,
          yes.map(({ name, pin }) => ({ name, sha256: pin.sha256 })),
          { by },
        );
        if (upstream !== undefined) putRecords(upstream, yes);
        return { value: value.map(({ name, answer }) => ({ name, answer })), write: yes.length > 0 };
      }),

    deny: (settings, by, tools) =>
      records.update(async (upstreams) => {
        const key = keyOf(settings);
        const upstream = recordFor(upstreams, key);
        const at = clock.now();
        if (tools === undefined) {
          await record('upstream.denied', key, { by });
          const pin = serverPin(settings, {});
          upstream.server = { state: 'denied', at, by, pin: { ...pin, fields: [...pin.fields] } };
        } else {
          await recordTools(
            'upstream_tool.denied',
            key,
            tools.map((name) => ({ name })),
            { by },
          );
          const nothing = pinOf({});
          const known = byName(upstream);
          putRecords(
            upstream,
            tools.map((name) => {
              const { waiting: _, ...rest } = known.get(name) ?? { name, backend: '', pin: { ...nothing, fields: [] } };
              return { ...rest, state: 'denied' as const, at, by };
            }),
          );
        }
        return { value: undefined, write: true };
      }),

    revoke: (key, by, tools) =>
      records.update(async (upstreams) => {
        const upstream = findRecord(upstreams, key);
        const gone =
          upstream === undefined ? [] : tools === undefined ? upstream.tools : upstream.tools.filter(({ name }) => tools.includes(name));
        if (upstream === undefined || (tools !== undefined && gone.length === 0)) return { value: false, write: false };
        await record('upstream.revoked', key, { by, whole: tools === undefined, tools: gone.length });
        await recordTools(
          'upstream_tool.revoked',
          key,
          gone.map(({ name, pin }) => ({ name, sha256: pin.sha256 })),
          { by },
        );
        if (tools === undefined) upstreams.splice(upstreams.indexOf(upstream), 1);
        else upstream.tools = upstream.tools.filter(({ name }) => !tools.includes(name));
        return { value: true, write: true };
      }),

    async list() {
      const read = records.read();
      if (!read.ok) return read;
      const upstreams = read.upstreams.map(({ project, name, server, tools }) => ({
        project,
        name,
        ...(server === undefined
          ? {}
          : { server: { state: server.state, at: server.at, by: server.by, sha256: server.pin.sha256, fields: server.pin.fields } }),
        tools: tools.map(listed),
      }));
      return { ok: true, upstreams };
    },
  };
}

/** What a link leads to can change: an approval of the one would be one of the other. */
function isReal({ project }: UpstreamKey): boolean {
  if (project === null) return true;
  try {
    return realpathSync(project) === project;
  } catch {
    // Gone, or not to be entered: nothing can be started there either.
    return false;
  }
}

function notReal({ project }: UpstreamKey): string {
  return `${visible(project ?? '')} is not the real path of a folder that is there, so nothing is approved for it.`;
}

function whyAsked({ source, require_approval }: UpstreamSettings, held: boolean): string {
  if (held) return 'Its texts or hints need a look before it is used.';
  if (source === 'project') return 'A project file brought its server in, and nobody has approved this tool.';
  return require_approval ? 'Its server is set to need an approval of every tool.' : 'Nobody has approved it.';
}

function tooMany(judgement: Judgement): Judgement {
  if (judgement.state === 'denied') return judgement;
  const reason = `Its server has shown more than ${MAX_RECORDED} different tools; revoke its records to begin anew.`;
  return 'difference' in judgement ? { ...judgement, reason } : { state: 'denied', sha256: judgement.sha256, reason };
}

function refusal(reason: 'changed' | 'unknown', name: string): Answer {
  const message =
    reason === 'changed' ? `"${visible(name)}" is no longer what was shown; look at it again.` : `"${visible(name)}" was never seen.`;
  return { ok: false, reason, message };
}

function named({ name, judgement }: { readonly name: string; readonly judgement: Judgement }): object {
  return { name, sha256: judgement.sha256 };
}
