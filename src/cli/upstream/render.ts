import { visible } from '../../kernel/visible.ts';
import {
  differenceLines,
  type ListedUpstream,
  type LookedAt,
  type UpstreamSettings,
  type UpstreamStatus,
  type UpstreamTool,
} from '../../upstreams/index.ts';
import type { ConfiguredServer } from '../app.ts';

/** What a person reads of MCP servers in a terminal. Everything foreign is made visible first. */

type Difference = NonNullable<ListedUpstream['tools'][number]['difference']>;
type Notes = readonly { readonly message: string; readonly fix?: string }[];

const LOG_LINES = 20;

export function renderList(servers: readonly (ConfiguredServer & { readonly state: string })[]): string {
  if (servers.length === 0)
    return 'None are configured. `writ upstream add --help` shows how, `writ upstream import` takes those of other programs.';
  return servers
    .map(({ name, source, read, state }) => {
      const type = read.ok ? read.settings.transport.type : '-';
      return `  ${visible(name).padEnd(24)} ${type.padEnd(6)} ${source.padEnd(9)} ${visible(state)}`;
    })
    .join('\n');
}

/** As `mask` leaves it. */
export function renderSettings(settings: UpstreamSettings): string {
  const { transport, roots, network } = settings;
  const lines: readonly (readonly [string, string])[] = [
    ['server', `${settings.name} (${settings.source === 'project' ? `brought in by ${settings.project}` : 'your configuration'})`],
    ...(transport.type === 'stdio'
      ? ([
          ['runs', [transport.command, ...transport.args].map((word) => JSON.stringify(word)).join(' ')],
          ...(transport.cwd === undefined ? [] : [['in', transport.cwd] as const]),
          ['variables', listed(Object.entries(transport.env).map(([name, value]) => `${name}=${value}`))],
          ['sees', listed(roots.map(({ path, access }) => `${path} (${access === 'write' ? 'may write' : 'reads'})`))],
          ['network', networkOf(network)],
        ] as const)
      : ([
          ['reaches', `${transport.url} (${transport.type})`],
          ['headers', listed(Object.keys(transport.headers))],
        ] as const)),
    ...(settings.unix_sockets.length > 0 ? [['sockets', listed(settings.unix_sockets)] as const] : []),
    ...(settings.artifact_roots.length > 0 ? [['artifacts', listed(settings.artifact_roots)] as const] : []),
    ...(settings.disabled_tools.length > 0 ? [['tools off', listed(settings.disabled_tools)] as const] : []),
    [
      'limits',
      `${settings.timeout_ms / 1000} s a call, ${settings.max_response_bytes} bytes a message, ${settings.max_result_chars} characters a result`,
    ],
  ];
  return lines.map(([name, value]) => `  ${name.padEnd(10)} ${visible(value)}`).join('\n');
}

/** Each with what to do about it; each line with its end. */
export function renderNotes(notes: Notes): string {
  return notes.map(({ message, fix }) => `  ! ${visible(message)}\n${fix === undefined ? '' : `      ${visible(fix)}\n`}`).join('');
}

export function renderLook({ status, tools, log }: LookedAt): string {
  const { name, state, identity, reason } = status;
  const what = identity === undefined ? '' : ` as ${identity.name} ${identity.version} (${identity.protocol})`;
  const lines = [visible(`${name}: ${state}${what}${reason === undefined ? '' : `: ${reason}`}`)];
  if (tools.length > 0) lines.push(renderTools(tools));
  if (state !== 'connected') lines.push(...log.slice(-LOG_LINES).map((line) => `  [${name}] ${visible(line)}`));
  return lines.join('\n');
}

/** As it is where it runs. */
export function renderStatus(status: UpstreamStatus): string {
  const { name, identity, last_error, reason } = status;
  const what = identity === undefined ? '' : ` as ${identity.name} ${identity.version} (${identity.protocol})`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return [
    visible(`${name}: ${liveState(status)}${what}${why}`),
    `  since ${new Date(status.since).toISOString().slice(0, 19)}Z, ${status.restarts} restart${status.restarts === 1 ? '' : 's'}`,
    ...(last_error === undefined || last_error === reason ? [] : [visible(`  last error: ${last_error}`)]),
    ...droppedOf(status),
  ].join('\n');
}

function droppedOf({ dropped: { late, unknown, noise } }: UpstreamStatus): readonly string[] {
  if (late + unknown + noise === 0) return [];
  return [`  dropped: answers that came too late ${late}, answers to nothing ${unknown}, lines that are no message ${noise}`];
}

/** In a few words, for a list. */
export function liveState({ state, tools }: UpstreamStatus): string {
  if (tools.all === 0) return state;
  const count = `${tools.all} tool${tools.all === 1 ? '' : 's'}`;
  return `${state}, ${count}${tools.disabled === 0 ? '' : `, ${tools.enabled} of them enabled`}`;
}

function renderTools(tools: readonly UpstreamTool[]): string {
  return tools
    .map(({ name, exposed, flags, availability }) => {
      const state = availability.state === 'enabled' ? 'enabled' : `${availability.state}: ${availability.reason}`;
      return [`  ${visible(name).padEnd(32)} ${exposed}  ${visible(state)}`, ...flags.map((flag) => `      ${visible(flag)}`)].join('\n');
    })
    .join('\n');
}

export function renderApprovals(upstreams: readonly ListedUpstream[]): string {
  if (upstreams.length === 0) return 'Nothing was approved or seen yet.';
  return upstreams
    .map(({ name, project, server, tools }) => {
      const whose = project === null ? 'your configuration' : project;
      const count = (state: string): number => tools.filter((tool) => tool.state === state).length;
      const states = ['approved', 'seen', 'asked', 'changed', 'denied'].flatMap((state) =>
        count(state) > 0 ? [`${count(state)} ${state}`] : [],
      );
      const said = server === undefined ? '' : `, server ${server.state} by ${visible(server.by)}`;
      return `  ${visible(name).padEnd(24)} ${visible(whose)}${said}; tools: ${states.join(', ') || 'none'}`;
    })
    .join('\n');
}

/** A tool that waits for an answer, whole. */
export function renderQuestion({ name, state, difference }: ListedUpstream['tools'][number]): string {
  return [
    `  ${visible(name)} (${state === 'changed' ? 'has changed since it was approved or first seen' : 'new'})`,
    ...(difference === undefined ? [] : [renderDifference(difference)]),
  ].join('\n');
}

export function renderDifference(difference: Difference): string {
  return differenceLines(difference)
    .map((line) => `      ${line}`)
    .join('\n');
}

function networkOf(network: UpstreamSettings['network']): string {
  return typeof network === 'string' ? network : listed([...network.hosts, ...network.presets.map((preset) => `preset ${preset}`)]);
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
