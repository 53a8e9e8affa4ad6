import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { makeToken, startUp } from '../helpers/up-process.ts';
import { makePlace, runWrit } from '../helpers/writ-process.ts';

/** The toolset of a token is edited while agents of both eras are connected to `writ up`: the next list and the next call are by the new one. */
test('another toolset holds for whoever is connected over HTTP, and they are told', async () => {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  const file = join(place.home, 'config.json');
  const write = (toolsets: object): void => {
    writeFileSync(`${file}.new`, JSON.stringify({ tools: { toolsets } }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  write({ few: ['job_list'] });
  expect((await runWrit(place, ['workspace', 'add', 'main', place.workspace])).code).toBe(0);
  const token = await makeToken(place, 'agent', ['-w', 'main', '--toolset', 'few']);
  const up = await startUp(place);
  const endpoint = new URL(`${up.url}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const session = new ClientV1({ name: 'older', version: '1' });
  const stateless = new ClientV2({ name: 'newer', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const told = { session: 0, stateless: 0 };
  session.setNotificationHandler(ToolListChangedNotificationSchema, () => void told.session++);
  stateless.setNotificationHandler('notifications/tools/list_changed', () => void told.stateless++);
  const lists = async (): Promise<readonly (readonly string[])[]> =>
    (await Promise.all([session.listTools(), stateless.listTools()])).map(({ tools }) => tools.map(({ name }) => name));
  /** Of both: whether a call is refused, however its name was come by. */
  const refused = async (name: string): Promise<readonly boolean[]> =>
    Promise.all(
      [session, stateless].map((client) =>
        client.callTool({ name, arguments: {} }).then(
          ({ isError }) => isError === true,
          () => true,
        ),
      ),
    );
  try {
    await session.connect(new HttpV1(endpoint, { requestInit }));
    await stateless.connect(new HttpV2(endpoint, { requestInit }));
    const listening = await stateless.listen({ toolsListChanged: true });
    expect(await lists()).toEqual([['job_list'], ['job_list']]);
    expect(await refused('job_list')).toEqual([false, false]);

    write({ few: ['job_list', 'search_files'] });
    const heard = (before: typeof told): boolean => told.session > before.session && told.stateless > before.stateless;
    await expect.poll(() => heard({ session: 0, stateless: 0 }), { timeout: 30_000 }).toBe(true);
    expect(await lists()).toEqual([
      ['job_list', 'search_files'],
      ['job_list', 'search_files'],
    ]);

    const before = { ...told };
    write({ few: ['search_files'] });
    await expect.poll(() => heard(before), { timeout: 30_000 }).toBe(true);
    expect(await lists()).toEqual([['search_files'], ['search_files']]);
    expect(await refused('job_list')).toEqual([true, true]);
    await listening.close();
  } finally {
    await Promise.allSettled([session.close(), stateless.close()]);
    await up.end();
    place.remove();
  }
});
