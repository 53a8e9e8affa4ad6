import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from './load.ts';

const GIB = 1024 ** 3;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-limits-'));
  for (const name of ['home', 'project']) mkdirSync(join(folder, name), { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const facts = { cores: 8, memory_bytes: 64 * GIB, host_env: {}, uid: process.getuid?.() ?? 0 };
async function sandbox(backend: string | undefined, operator: object = {}, project: object = {}) {
  writeFileSync(join(folder, 'home/config.json'), JSON.stringify(operator), { mode: 0o600 });
  writeFileSync(join(folder, 'project/writ.json'), JSON.stringify(project));
  const flags = backend === undefined ? [] : [{ flag: '--sandbox', path: 'sandbox.backend', value: backend }];
  const loaded = await loadConfig(facts, { home: join(folder, 'home'), project_dir: join(folder, 'project'), flags });
  if (!loaded.ok) throw new Error(loaded.problems[0]?.message);
  return loaded.config.sandbox;
}

it('a container gets less by default, and what somebody said by their word', async () => {
  expect((await sandbox(undefined)).limits).toMatchObject({ memory_bytes: 4 * GIB, pids: 512, cpus: 8 });
  expect((await sandbox('container')).limits).toMatchObject({ memory_bytes: 2 * GIB, pids: 512, cpus: 2 });
  const said = { sandbox: { backend: 'container', limits: { memory_bytes: '8GiB', cpus: 6 } } };
  expect((await sandbox(undefined, said)).limits).toMatchObject({ memory_bytes: 8 * GIB, pids: 512, cpus: 6 });
  expect((await sandbox(undefined, said, { sandbox: { limits: { memory_bytes: '1GiB' } } })).limits.memory_bytes).toBe(GIB);
});

it('the backend is the word of the operator: a flag or their file, never a project', async () => {
  const given = { sandbox: { backend: 'none', image: 'evil' } };
  expect(await sandbox(undefined, {}, given)).toMatchObject({ backend: 'bubblewrap', image: null });
  expect((await sandbox('bubblewrap', given)).backend).toBe('bubblewrap');
  await expect(sandbox('docker')).rejects.toThrow(/--sandbox is not right for sandbox.backend: must be one of/);
  await expect(sandbox('container', { sandbox: { image: '--privileged' } })).rejects.toThrow(/must be an image/);
});
