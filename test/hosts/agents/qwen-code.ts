import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../kit/host.ts';
import { withMore } from '../kit/json-config.ts';

export const QWEN_CODE: Host = {
  name: 'qwen-code',
  folder: 'qwen',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  bin: 'qwen',
  connect: 'qwen-code',
  prepare({ home, workspace, model_url, printed, server_env }) {
    for (const folder of [home, workspace]) mkdirSync(join(folder, '.qwen'));
    const user = { security: { auth: { selectedType: 'openai' } }, privacy: { usageStatisticsEnabled: false } };
    writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(user));
    const project = withMore(printed, 'mcpServers', { env: server_env, trust: true });
    writeFileSync(join(workspace, '.qwen', 'settings.json'), JSON.stringify(project));
    return {
      // What a repository brings starts only after a person's yes.
      before: ['mcp', 'approve', 'writ'],
      args: ['-p', 'go', '--output-format', 'json'],
      env: { OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: `${model_url}/v1`, OPENAI_MODEL: 'scripted' },
    };
  },
  // Its models find the tools of servers by a search and call them through one tool.
  first: (tools) => [{ tool: 'tool_search', of: 'host', args: { query: `select:${tools.map((name) => `mcp__writ__${name}`).join(',')}` } }],
  wrap: ({ tool, args, label }) => ({
    ...(label === undefined ? {} : { label }),
    tool: 'tool_call',
    of: 'host',
    args: { name: `mcp__writ__${tool}`, arguments: args },
  }),
};
