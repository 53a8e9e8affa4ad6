import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace, startMcp } from '../helpers/writ-process.ts';
import { fixture, listed } from './place.ts';

/** Edits of ~/.writ/config.json while a server of Writ runs. */
test('servers come, change and go while it runs; a broken edit leaves the last good one; the others keep their process', async () => {
  const place = makePlace();
  mkdirSync(place.home, { mode: 0o700 });
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
