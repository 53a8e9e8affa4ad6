import { runHost } from './kit/run-host.ts';

await runHost({
  name: 'Claude Code',
  folder: 'claude',
  package: '@anthropic-ai/claude-code',
  version: '2.1.332',
  bin: 'claude',
  connect: 'claude-code',
  prepare({ model_url, printed, server_env }) {
    // `claude mcp add writ -- COMMAND`, typed as it is printed but for the environment of the server.
    const [, ...add] = printed.split(' ');
    const env = Object.entries(server_env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    return {
      before: [...add.slice(0, 3), ...env, ...add.slice(3)],
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
  },
});
