import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace, startMcp } from '../helpers/writ-process.ts';
import { fixture, listed } from './place.ts';

/** Edits of ~/.writ/config.json while a server of Writ runs. */
test('servers come, change and go while it runs; a broken edit leaves the last good one; the others keep their process', async () => {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  const file = join(place.home, 'config.json');
  const write = (text: string): void => {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const server = (more: object = {}): object => fixture(place, 'gateway-server.mjs', ['--era', 'older'], more);
  write(JSON.stringify({ mcp_servers: { one: server() } }));
  let changes = 0;
  const mcp = await startMcp(place, { onNotification: (method) => void (method === 'notifications/tools/list_changed' && changes++) });
  try {
    await listed(mcp, 'one__runs');
    const runs = async (): Promise<number> => JSON.parse((await mcp.call('one__runs', {})).text.split('\n')[0] ?? '').runs;
    await mcp.call('one__elicit', {});
    const before = await runs();

    write(JSON.stringify({ mcp_servers: { one: server(), two: server({ prefix: 'second' }) } }));
    await listed(mcp, 'one__runs', 'second__runs');
    expect(changes).toBeGreaterThan(0);
    expect(await runs()).toBe(before);

    write('{ "mcp_servers": { "one": ');
    await expect.poll(() => mcp.stderr(), { timeout: 30_000 }).toContain('stay as they were');
    expect(await listed(mcp, 'one__runs', 'second__runs')).toBeDefined();

    write(JSON.stringify({ mcp_servers: { one: server(), two: server({ prefix: 'second', disabled_tools: ['runs'] }) } }));
    await expect
      .poll(async () => (await mcp.call('second__runs', {}).catch(String)) as object, { timeout: 30_000 })
      .toMatchObject({ isError: true });
    write(JSON.stringify({ mcp_servers: { one: server() } }));
    await expect.poll(async () => (await listed(mcp)).filter((name) => name.startsWith('second__')), { timeout: 30_000 }).toEqual([]);
    expect(await runs()).toBe(before);
    expect(readFileSync(file, 'utf8')).not.toContain('second');
  } finally {
    await mcp.end();
    place.remove();
  }
});

test('the first server ever, and another toolset, hold at the next list and call of a connection that was there before', async () => {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  const file = join(place.home, 'config.json');
  const write = (toolsets: object, more: object = {}): void => {
    writeFileSync(`${file}.new`, JSON.stringify({ tools: { toolsets, list_at_most: 0 }, ...more }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const mcp_servers = { one: fixture(place, 'gateway-server.mjs', ['--era', 'older']) };
  write({ few: ['job_list'] });
  let changes = 0;
  const mcp = await startMcp(place, {
    args: ['--root', place.workspace, '--toolset', 'few'],
    onNotification: (method) => void (method === 'notifications/tools/list_changed' && changes++),
  });
  /** Of the tool `one__runs`, in every spelling there is. */
  const refusals = (): Promise<readonly boolean[]> => {
    const refused = (name: string, args: object): Promise<boolean> =>
      mcp.call(name, args).then(
        ({ isError, text }) => isError || (name === 'find_tools' && !text.includes('one__runs')),
        () => true,
      );
    const spelled = ['one__runs', 'mcp__one__runs', 'mcp__writ__one__runs'].map((name) => refused(name, {}));
    return Promise.all([...spelled, refused('call_tool', { name: 'one__runs', arguments: {} }), refused('find_tools', { query: 'runs' })]);
  };
  try {
    expect(await listed(mcp, 'job_list')).toEqual(['job_list']);
    expect(await refusals()).toEqual([true, true, true, true, true]);
    write({ few: ['job_list', 'one__*', 'find_tools', 'call_tool'] }, { mcp_servers });
    expect(await listed(mcp, 'call_tool')).toEqual(['call_tool', 'find_tools', 'job_list']);
    await expect.poll(refusals, { timeout: 30_000 }).toEqual([false, false, false, false, false]);
    const before = changes;
    expect(before).toBeGreaterThan(0);

    write({ few: ['job_list', 'find_tools', 'call_tool'] }, { mcp_servers });
    await expect.poll(refusals, { timeout: 30_000 }).toEqual([true, true, true, true, true]);
    expect(changes).toBeGreaterThan(before);
    write({}, { mcp_servers });
    await expect.poll(async () => (await mcp.call('job_list', {})).isError, { timeout: 30_000 }).toBe(true);
    expect(await listed(mcp)).toEqual([]);
    expect(mcp.stderr()).toContain('the toolset "few" is not configured any more');
  } finally {
    await mcp.end();
    place.remove();
  }
});
