import { visible } from '../kernel/visible.ts';
import { differenceLines, type ListedUpstream, type UpstreamSettings, type UpstreamTool } from '../upstreams/index.ts';

/** What a person reads of MCP servers in a terminal. Everything foreign is made visible first. */

export function renderSettings(settings: UpstreamSettings): string {
  const { transport, roots, network } = settings;
  const lines: readonly (readonly [string, string])[] = [
    ['server', `${settings.name} (${settings.source === 'project' ? `brought in by ${settings.project}` : 'your configuration'})`],
    ...(transport.type === 'stdio'
      ? ([
          ['runs', [transport.command, ...transport.args].map((word) => JSON.stringify(word)).join(' ')],
          ...(transport.cwd === undefined ? [] : [['in', transport.cwd] as const]),
          ['variables', listed(Object.entries(transport.env).map(([name, value]) => `${name}=${value}`))],
        ] as const)
      : ([
          ['reaches', `${transport.url} (${transport.type})`],
          ['headers', listed(Object.keys(transport.headers))],
        ] as const)),
    ['sees', listed(roots.map(({ path, access }) => `${path} (${access === 'write' ? 'may write' : 'reads'})`))],
    ['network', typeof network === 'string' ? network : listed([...network.hosts, ...network.presets.map((preset) => `preset ${preset}`)])],
    ...(settings.unix_sockets.length > 0 ? [['sockets', listed(settings.unix_sockets)] as const] : []),
    [
      'limits',
      `${settings.timeout_ms / 1000} s a call, ${settings.max_response_bytes} bytes a message, ${settings.max_result_chars} characters a result`,
    ],
  ];
  return lines.map(([name, value]) => `  ${name.padEnd(10)} ${visible(value)}`).join('\n');
}

export function renderTools(tools: readonly UpstreamTool[]): string {
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
  const lines = difference === undefined ? [] : differenceLines(difference);
  return [
    `  ${visible(name)} (${state === 'changed' ? 'has changed since it was approved or first seen' : 'new'})`,
    ...lines.map((line) => `      ${line}`),
  ].join('\n');
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}
