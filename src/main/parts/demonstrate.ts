import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import { type McpParts, serveMcp } from './serve-mcp.ts';

const COMMAND =
  'echo "Hello from $(id -un) in $PWD"; echo "my home holds: $(ls -A ~ | tr "\\n" " ")"; echo "network devices: $(ls /sys/class/net 2>/dev/null || echo none)"; sleep 300 & exit 3';
const REFUSED = 'cat ~/.ssh/id_ed25519';

interface Answer {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: {
    readonly exit_code: number | null;
    readonly duration_ms: number;
    readonly containment: { readonly enforced: number; readonly of: number };
    readonly teardown: { verified: boolean; ms: number } | null;
  };
}

/** One command that runs and one that is refused, through a real MCP conversation with a server of our own. */
export async function demonstrate(parts: Omit<McpParts, 'roots' | 'toolset' | 'input' | 'output'>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-demo-'));
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveMcp({ ...parts, roots: [folder], toolset: 'default', input, output });
  const client = talk(input, output);
  try {
    await client.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'writ demo', version: parts.version },
    });
    client.tell('notifications/initialized');
    const ran = await client.ask('tools/call', { name: 'shell', arguments: { command: COMMAND } });
    const refused = await client.ask('tools/call', { name: 'shell', arguments: { command: REFUSED } });
    return `One command through Writ's own MCP server:\n\n    $ ${COMMAND}\n${quote(textOf(ran))}\n\n${receipt(ran)}\n\nAnd one that needs a yes:\n\n    $ ${REFUSED}\n${quote(textOf(refused))}`;
  } finally {
    input.end();
    await served;
    rmSync(folder, { recursive: true, force: true });
  }
}

function receipt(answer: Answer): string {
  const facts = answer.structuredContent;
  if (!facts) return 'There is no receipt: the command was refused.';
  const end = facts.teardown?.verified
    ? `It left a process behind (sleep 300); the whole tree was ended and seen gone ${Math.round(facts.teardown.ms)} ms after the command ended.`
    : 'Whether everything it started is gone could not be seen.';
  return [
    'Receipt, in plain words:',
    `  It ran for ${facts.duration_ms} ms and ended with exit code ${facts.exit_code}, as it asked to.`,
    `  ${facts.containment.enforced} of ${facts.containment.of} kinds of containment were enforced by the kernel (the table above says which).`,
    `  ${end}`,
    '  What was asked, decided and done is in the audit record: writ audit list',
  ].join('\n');
}

function talk(
  input: PassThrough,
  output: PassThrough,
): { ask(method: string, params: unknown): Promise<Answer>; tell(method: string): void } {
  const waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: AppError) => void }>();
  createInterface({ input: output })
    .on('line', (line) => {
      const message = JSON.parse(line) as { id?: number; result?: Answer; error?: { message: string } };
      const pending = message.id === undefined ? undefined : waiting.get(message.id);
      if (!pending || message.id === undefined) return;
      waiting.delete(message.id);
      if (message.result) pending.resolve(message.result);
      else pending.reject(new AppError('internal', `The demonstration failed: ${message.error?.message ?? 'no answer'}`));
    })
    .on('close', () => {
      for (const pending of waiting.values()) pending.reject(new AppError('internal', 'The MCP server closed before it answered.'));
    });
  let last = 0;
  const send = (message: Record<string, unknown>): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        send({ id: last, method, params });
      }),
    tell: (method) => send({ method }),
  };
}

function textOf(answer: Answer): string {
  return answer.content?.map((part) => part.text ?? '').join('\n') ?? '';
}

function quote(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ');
}
