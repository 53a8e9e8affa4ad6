import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpProcess, makePlace, type Place, startMcp } from '../helpers/writ-process.ts';

const server = fileURLToPath(new URL('../fixtures/result-server.mjs', import.meta.url));
let place: Place;
let mcp: McpProcess;
let art: string;

beforeAll(async () => {
  place = makePlace();
  art = join(place.workspace, 'art');
  mkdirSync(art);
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  const entry = {
    command: 'node',
    args: ['server.mjs'],
    cwd: place.workspace,
    roots: [place.workspace],
    network: 'none',
    max_result_chars: 5_000,
    artifact_roots: [art],
  };
  writeFileSync(join(place.workspace, 'server.mjs'), readFileSync(server));
  const bad = { command: 'node', timeout_seconds: 0 };
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcpServers: { res: entry, bad } }), { mode: 0o600 });
  mcp = await startMcp(place);
  // On a busy machine it is connected after the list is given.
  for (let names = ''; !names.includes('res__give'); ) names = JSON.stringify(await mcp.ask('tools/list'));
}, 60_000);
afterAll(async () => {
  await mcp.end();
  place.remove();
});

const readResource = async (uri: string): Promise<{ text: string; uri: string }[]> =>
  (await mcp.ask('resources/read', { uri }))['contents'] as { text: string; uri: string }[];

test('a server with a wrong key is left out and the key is named; the other works', async () => {
  const { tools } = (await mcp.ask('tools/list')) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['res__give', 'res__large', 'read_artifact']));
  expect(mcp.stderr()).toContain('mcp_servers.bad.timeout_seconds must be a number of seconds above 0');
});

test('a result within its limit is passed on as it is, with its origin behind it', async () => {
  const content = [
    { type: 'text', text: 'hello' },
    { type: 'resource_link', uri: 'test://x', name: 'x' },
  ];
  const result = await mcp.ask('tools/call', { name: 'res__give', arguments: { result: { content, structuredContent: { a: 1 } } } });
  expect(result).toMatchObject({ isError: false, structuredContent: { a: 1 }, _meta: { 'writ/origin': 'mcp:res' } });
  const given = result['content'] as { text?: string }[];
  expect(given.slice(0, 2)).toEqual(content);
  expect(given[2]?.text).toContain('came from the MCP server "res"');
});

test('one that is too large is read to its end, by tool and as resource', async () => {
  const whole = Array.from({ length: 5_000 }, (_, at) => `line ${at} é漢😀`).join('\n');
  const { text, isError } = await mcp.call('res__large', { lines: 5_000 });
  expect(isError).toBe(false);
  expect(text.length).toBeLessThan(6_000);
  const [, id = '', cursor = ''] = /read_artifact \{"id": "(art_\w+)", "cursor": (\d+)\}/.exec(text) ?? [];
  const shown = text.slice(text.indexOf('line 0 '), text.indexOf('\n[... cut here'));
  let rest = '';
  for (let at: unknown = Number(cursor); at !== null; ) {
    const { structured } = await mcp.call('read_artifact', { id, cursor: at });
    rest += structured['content'];
    at = structured['next_cursor'];
  }
  expect(shown + rest).toBe(whole);

  let all = '';
  for (let uri: string | undefined = `writ://artifact/${id}`; uri !== undefined; ) {
    const [page, next]: { text: string; uri: string }[] = await readResource(uri);
    all += page?.text;
    uri = next?.uri;
  }
  expect(all).toBe(whole);
  const { resources } = (await mcp.ask('resources/list')) as { resources: { uri: string; size: number }[] };
  expect(resources).toContainEqual({
    uri: `writ://artifact/${id}`,
    name: 'res: large',
    mimeType: 'text/plain',
    size: Buffer.byteLength(whole),
  });
});

test('a result that breaks its own schema is shown, and so is a long error', async () => {
  const wrong = await mcp.ask('tools/call', { name: 'res__wrong', arguments: {} });
  expect(wrong).not.toHaveProperty('structuredContent');
  expect(wrong).toMatchObject({ isError: true });
  expect(JSON.stringify(wrong['content'])).toMatch(/\$\.n must be integer.*one/);
  const failed = await mcp.call('res__fail', { chars: 100_000 });
  expect(failed.isError).toBe(true);
  expect(failed.text.length).toBeLessThan(6_000);
  expect(failed.text).toContain('over its limit of 5000 (max_result_chars)');
  expect((await mcp.call('res__fail', { chars: 3 })).text).toContain('It answered with an error: eee (-32000)');
});

test('a file that a result refers to is read on demand, through the gate, as long as it is that file', async () => {
  const path = join(art, 'a.txt');
  writeFileSync(path, 'hello\n');
  const envelope = (uri: string): object => ({
    content: [
      {
        type: 'text',
        text: JSON.stringify({
          schema: 'odek.tool-result/v1',
          text: 'see',
          artifacts: [{ schema: 'odek.artifact-ref/v1', id: 'a', uri, media_type: 'text/plain' }],
        }),
      },
    ],
  });
  const { text } = await mcp.call('res__give', { result: envelope(`file://${path}`) });
  expect(text).not.toContain(art);
  const [uri = ''] = /writ:\/\/artifact\/art_\w+/.exec(text) ?? [];
  expect(await readResource(uri)).toMatchObject([{ uri, text: 'hello\n', _meta: { 'writ/origin': 'mcp:res' } }]);
  rmSync(path);
  symlinkSync('/etc/hostname', path);
  await expect(readResource(uri)).rejects.toThrow(/can't be read/);
  const outside = await mcp.call('res__give', { result: envelope('file:///etc/hostname') });
  expect(outside.text).toMatch(/of the tool "give" of the MCP server "res" is refused: artifact "a" is refused: it lies outside/);
  await expect(readResource('writ://artifact/art_0000000000000000000000')).rejects.toThrow('Resource not found');
});
