import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectText } from './connect.ts';
import { connectHttpText } from './connect-http.ts';

/**
 * Hosts that no test here can start: what is printed for them is held against the shape that their documentation gives
 * (code.visualstudio.com/docs/copilot/reference/mcp-configuration, cursor.com/docs/mcp). Members they don't know are ignored without a word, so none may be there.
 */
const headers = z.record(z.string(), z.string());
const input = z.strictObject({ type: z.literal('promptString'), id: z.string(), description: z.string(), password: z.literal(true) });
const name = z.string().regex(/^[A-Za-z][\w-]*$/);
const started = { command: z.string(), args: z.array(z.string()) };

const VS_CODE = z.strictObject({
  inputs: z.array(input).exactOptional(),
  servers: z.record(
    name,
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('stdio'), ...started }),
      z.strictObject({ type: z.literal('http'), url: z.url(), headers }),
    ]),
  ),
});
const CURSOR = z.strictObject({
  mcpServers: z.record(name, z.union([z.strictObject(started), z.strictObject({ url: z.url(), headers })])),
});

const ENTRY = { url: 'http://127.0.0.1:7420/mcp', file: '/home/dev/.writ/tokens/ci' };

function printed(text: string | undefined): unknown {
  const from = text?.indexOf('{') ?? -1;
  const to = text?.lastIndexOf('\n    }') ?? -1;
  return JSON.parse(text?.slice(from, to + '\n    }'.length) ?? '');
}

test.each(['vscode', 'vs-code', 'VS Code', 'claude', 'claude-code', 'Gemini CLI'])('%s is understood', (asked) => {
  expect(connectText(['/usr/bin/writ', 'mcp'], asked)).toBeDefined();
});

describe('VS Code', () => {
  test('over HTTP: the token is asked for once, hidden, by the name that the header refers to', () => {
    const { inputs = [], servers } = VS_CODE.parse(printed(connectHttpText(ENTRY, 'vs-code')));
    expect(servers['writ']).toMatchObject({
      type: 'http',
      url: ENTRY.url,
      headers: { Authorization: `Bearer \${input:${inputs[0]?.id}}` },
    });
    expect(inputs).toMatchObject([{ description: expect.stringContaining(ENTRY.file) }]);
  });

  test('over stdio', () => {
    const { servers } = VS_CODE.parse(printed(connectText(['/usr/bin/writ', 'mcp'], 'vs-code')));
    expect(servers['writ']).toEqual({ type: 'stdio', command: '/usr/bin/writ', args: ['mcp'] });
  });
});

describe('Cursor', () => {
  test('over HTTP: the header takes a variable, and how to set it is said', () => {
    const text = connectHttpText(ENTRY, 'cursor');
    expect(CURSOR.parse(printed(text)).mcpServers['writ']).toEqual({
      url: ENTRY.url,
      headers: { Authorization: `Bearer \${env:WRIT_TOKEN}` },
    });
    expect(text).toContain(`export WRIT_TOKEN="$(cat ${ENTRY.file})"`);
  });

  test('over stdio', () => {
    expect(CURSOR.parse(printed(connectText(['/usr/bin/writ', 'mcp'], 'cursor'))).mcpServers['writ']).toEqual({
      command: '/usr/bin/writ',
      args: ['mcp'],
    });
  });
});
