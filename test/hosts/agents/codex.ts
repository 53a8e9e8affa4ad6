import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../kit/host.ts';

export const CODEX: Host = {
  name: 'Codex',
  folder: 'codex',
  package: '@openai/codex',
  version: '0.171.0',
  bin: 'codex',
  connect: 'codex',
  prepare({ home, model_url, printed, server_env }) {
    const table = (name: string, members: Readonly<Record<string, string>>): string =>
      `[${name}]\n${Object.entries(members)
        .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
        .join('')}`;
    const provider = { name: 'scripted', base_url: `${model_url}/v1`, env_key: 'SCRIPTED_KEY', wire_api: 'responses' };
    mkdirSync(join(home, '.codex'));
    writeFileSync(
      join(home, '.codex', 'config.toml'),
      [
        'model = "scripted"\nmodel_provider = "scripted"\n',
        table('model_providers.scripted', provider),
        `${printed}\n`,
        server_env === undefined ? '' : table('mcp_servers.writ.env', server_env),
      ].join('\n'),
    );
    // It would ask a person before each call.
    return { args: ['exec', '--dangerously-bypass-approvals-and-sandbox', '--json', 'go'], env: { SCRIPTED_KEY: 'x' } };
  },
};
