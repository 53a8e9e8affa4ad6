import type { Host } from '../kit/host.ts';

export const CLAUDE_CODE: Host = {
  name: 'Claude Code',
  folder: 'claude',
  package: '@anthropic-ai/claude-code',
  version: '2.1.332',
  bin: 'claude',
  connect: 'claude-code',
  prepare({ model_url, printed, server_env }) {
    const launch = {
      args: ['-p', 'go', '--allowedTools', 'mcp__writ', '--output-format', 'json'],
      env: {
        ANTHROPIC_BASE_URL: model_url,
        ANTHROPIC_API_KEY: 'sk-scripted',
        // Without a person it would ask the model before the servers have answered.
        MCP_CONNECTION_NONBLOCKING: 'false',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    };
    // `claude mcp add ...`, typed as it is printed but for the environment of the server.
    const [, ...add] = (printed.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    const env = Object.entries(server_env ?? {}).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    return { ...launch, before: [...add.slice(0, 3), ...env, ...add.slice(3)] };
  },
  // Its models search for tools that don't ask to be there from the start, as those of other servers.
  first: (tools) =>
    tools
      .filter((name) => name.includes('__'))
      .map((name) => ({ tool: 'ToolSearch', of: 'host', args: { query: `select:mcp__writ__${name}`, max_results: 5 } })),
};
