import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../kit/host.ts';
import { withMore } from '../kit/json-config.ts';

export const GEMINI_CLI: Host = {
  name: 'Gemini CLI',
  folder: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  bin: 'gemini',
  connect: 'gemini-cli',
  prepare({ home, workspace, model_url, printed, server_env }) {
    const user = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
      // After thirty turns it asks its model whether that goes in circles, and a scripted one doesn't say.
      model: { disableLoopDetection: true },
    };
    for (const folder of [home, workspace]) mkdirSync(join(folder, '.gemini'));
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(user));
    // `trust` stands for the person who says yes to each call.
    const project = withMore(printed, 'mcpServers', { env: server_env, trust: true });
    writeFileSync(join(workspace, '.gemini', 'settings.json'), JSON.stringify(project));
    return {
      args: ['-p', 'go', '-m', 'gemini-2.5-flash', '--output-format', 'json'],
      env: { GEMINI_API_KEY: 'scripted', GOOGLE_GEMINI_BASE_URL: model_url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    };
  },
};
