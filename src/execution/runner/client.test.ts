import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import type { ExecutionConfig } from '../core-types.ts';
import { layoutOf, makeLayout } from '../jobs/layout.ts';
import { LIMITS, tempHome } from '../jobs/testing.ts';
import { RunnerGone, startRunner } from './client.ts';

function configOf(home: string, ...runner_argv: string[]): ExecutionConfig {
  return {
    home,
    host_env: { PATH: '/usr/bin:/bin', SECRET: 'canary' },
    env_pass: [],
    user_home: home,
    limits: LIMITS,
    bwrap_candidates: [],
    runner_argv,
    job_retention_ms: 1,
    job_quota_bytes: 1,
  };
}

function start(...argv: string[]) {
  const home = tempHome();
  const layout = layoutOf(home);
  makeLayout(layout);
  return { layout, runner: startRunner(configOf(home, ...argv), layout, silentLogger) };
}

const node = (code: string): string[] => [process.execPath, '--input-type=module', '--eval', code];

describe('a runner process', () => {
  it.each([
    ['does not exist', ['/nonexistent/program']],
    ['ends at once', node('process.exit(3)')],
    ['closes the channel', node('process.disconnect()')],
    ['throws', node('throw new Error("broken")')],
  ])('that %s leaves no question open', async (_what, argv) => {
    const { runner } = start(...argv);
    await expect(runner.ask('probe', { fresh: false })).rejects.toBeInstanceOf(RunnerGone);
    expect(runner.usable()).toBe(false);
    expect(await runner.ended('exec_x' as never)).toBeNull();
    await expect(runner.ask('probe', { fresh: false })).rejects.toBeInstanceOf(RunnerGone);
    expect(runner.tell({ type: 'warm', workspaces: [] })).toBe(false);
    runner.disconnect();
  });

  it('gets its settings over the channel and nothing by its environment', async () => {
    const { runner } = start(
      ...node(`
        let config;
        process.on('message', (message) => {
          if (message.type === 'configure') config = message.config;
          else process.send({ type: 'answer', seq: message.seq, answer: { env: process.env, config, cwd: process.cwd() } });
        });
        process.on('disconnect', () => process.exit(0));`),
    );
    const seen = (await runner.ask('probe', { fresh: false })) as unknown as {
      env: Record<string, string>;
      config: ExecutionConfig;
      cwd: string;
    };
    expect(seen.cwd).toBe('/');
    expect(JSON.stringify(seen.env)).not.toContain('canary');
    expect(seen.config.host_env['SECRET']).toBe('canary');
    runner.disconnect();
  });

  it('writes its errors to a log of bounded size', async () => {
    const { layout, runner } = start(...node('console.error("broken here"); process.exit(1)'));
    await expect(runner.ask('probe', { fresh: false })).rejects.toBeInstanceOf(RunnerGone);
    const log = join(layout.logs, 'runner.log');
    expect(readFileSync(log, 'utf8')).toContain('broken here');
    expect(statSync(log).mode & 0o777).toBe(0o600);
    truncateSync(log, 0);
    writeFileSync(log, Buffer.alloc(2 * 1024 * 1024, 0x61));
    const next = startRunner(configOf(layout.logs, '/nonexistent'), layout, silentLogger);
    await expect(next.ask('probe', { fresh: false })).rejects.toBeInstanceOf(RunnerGone);
    expect(existsSync(`${log}.1`)).toBe(true);
    expect(statSync(log).size).toBeLessThan(1024 * 1024);
  });
});
