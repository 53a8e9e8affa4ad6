import type { Config } from '../../kernel/config/index.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import { keyOf, type ListedUpstream, type UpstreamSettings } from '../../upstreams/index.ts';
import type { Gateway } from './gateway.ts';

export interface StrictParts {
  readonly gateway: Pick<Gateway, 'read' | 'admit' | 'transportOf' | 'approvals'>;
  readonly config: Pick<Config, 'mcp_servers'>;
  readonly project: string | undefined;
  /** WRIT_APPROVE_MCP=1: nobody's answer is missing. */
  readonly approve_all: boolean;
}

/**
 * `--strict`: every enabled server of the configuration can be started as it is, and nobody's answer about its tools is missing; else AppError
 * upstreams_not_ready, before anything is started. What only a start shows (a program that isn't there, a tool that is new) is as without it.
 */
export async function insistOnUpstreams(parts: StrictParts): Promise<void> {
  const { gateway, config, project } = parts;
  const listed = await gateway.approvals.list();
  const lacking: string[] = [];
  for (const [name, server] of Object.entries(config.mcp_servers)) {
    if (server.entry['enabled'] === false || server.entry['disabled'] === true) continue;
    const read = gateway.read(name, server, project);
    const problem = read.ok
      ? ((await cannotStart(read.settings, gateway)) ??
        (parts.approve_all ? undefined : unanswered(read.settings, listed.ok ? listed.upstreams : [])))
      : `${read.problems.map(({ message }) => message).join('; ')} (writ config check)`;
    if (problem !== undefined) lacking.push(`"${name}": ${problem}`);
  }
  if (!listed.ok && lacking.length > 0) lacking.push(`${listed.problem} (${listed.fix.replace(/\.$/, '')})`);
  if (lacking.length === 0) return;
  throw new AppError('upstreams_not_ready', `Not every MCP server can be used, and nothing was started:\n  ${lacking.join('\n  ')}`, {
    fix: 'Do what stands there, disable the server (writ upstream disable NAME), or start without --strict.',
  });
}

async function cannotStart(settings: UpstreamSettings, { admit, transportOf }: StrictParts['gateway']): Promise<string | undefined> {
  const admission = await admit(settings);
  if (!admission.ok) return admission.reason;
  try {
    await transportOf(settings);
  } catch (thrown) {
    return toAppError(thrown).message;
  }
  return undefined;
}

/** From what was seen of it before: nothing is started to find out. */
function unanswered(settings: UpstreamSettings, upstreams: readonly ListedUpstream[]): string | undefined {
  const key = keyOf(settings);
  const tools = upstreams.find((one) => one.name === key.name && one.project === key.project)?.tools ?? [];
  const waiting = tools.filter(({ name, state }) => (state === 'asked' || state === 'changed') && !settings.disabled_tools.includes(name));
  const { name } = settings;
  if (waiting.length > 0) {
    const first = waiting.slice(0, 10).map((tool) => `${tool.name}${tool.state === 'changed' ? ' (changed)' : ''}`);
    const more = waiting.length > first.length ? ` and ${waiting.length - first.length} more` : '';
    return `${first.join(', ')}${more}: waiting for a yes (writ upstream approve ${name})`;
  }
  if (tools.length === 0 && settings.require_approval)
    return `nobody has seen its tools, each of which needs a yes (writ upstream test ${name}, then writ upstream approve ${name})`;
  return undefined;
}
