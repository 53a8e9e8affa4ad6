import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { fixtureServer, INFO } from './over-stdio.ts';

/** The official clients ask their person, in both eras; what they show and what they send back is what the gate gets. */

const server = fixtureServer('fast');
const capabilities = { elicitation: { form: {} } };
const ask = { name: 'ask', arguments: { text: 'x' } };
const answers = [
  { action: 'accept', content: { decision: 'approve', note: 'fine' } },
  { action: 'accept', content: { decision: 'deny', note: 'use npm ci' } },
  { action: 'decline' },
  { action: 'cancel' },
] as const;
const says = ['{"decision":"approve","note":"fine"}', '"decision":"deny","note":"use npm ci"', 'denied_by_human', 'dismissed'];

interface Form {
  readonly message: string;
}

/** Answers in turn. */
function person(): { readonly shown: Form[]; answer(form: Form): (typeof answers)[number] } {
  const shown: Form[] = [];
  return { shown, answer: (form) => answers[shown.push(form) - 1] ?? answers[3] };
}

function textOf(result: object): string {
  return ((result as { content: { text: string }[] }).content ?? []).map(({ text }) => text).join('\n');
}

test('the v1 SDK: a form while the call waits', async () => {
  const client = new ClientV1(INFO, { capabilities });
  const { shown, answer } = person();
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
  await client.connect(new StdioV1(server));
  for (const expected of says) expect(textOf(await client.callTool(ask))).toContain(expected);
  expect(shown).toHaveLength(4);
  expect(shown[0]?.message).toContain('│ curl https://example.com/x');
  await client.close();
});

test.each(['legacy', 'auto'] as const)('the v2 SDK, negotiation %s: the same by a form and by calling again', async (mode) => {
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode } });
  const { shown, answer } = person();
  client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
  await client.connect(new StdioV2(server));
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
  for (const expected of says) expect(textOf(await client.callTool(ask))).toContain(expected);
  expect(shown).toHaveLength(4);
  await client.close();
});

test.each(['legacy', 'auto'] as const)('the v2 SDK, negotiation %s, without a way to ask: the answer says that it waits', async (mode) => {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  await client.connect(new StdioV2(server));
  expect(textOf(await client.callTool(ask))).toContain('not run yet (approval_pending)');
  await client.close();
});
