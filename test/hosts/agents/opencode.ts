import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../kit/host.ts';
import { withMore } from '../kit/json-config.ts';

export const OPENCODE: Host = {
  name: 'opencode',
  folder: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  bin: 'opencode',
  connect: 'opencode',
  prepare({ workspace, model_url, printed, server_env }) {
    const model = { name: 'scripted', tool_call: true, limit: { context: 100_000, output: 4_000 } };
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'scripted',
      options: { baseURL: `${model_url}/v1`, apiKey: 'x' },
      models: { scripted: model },
    };
    const config = {
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      autoupdate: false,
      share: 'disabled',
      provider: { scripted: provider },
      ...withMore(printed, 'mcp', { environment: server_env }),
    };
    writeFileSync(join(workspace, 'opencode.json'), JSON.stringify(config));
    return {
      args: ['run', '--format', 'json', 'go'],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    };
  },
};
