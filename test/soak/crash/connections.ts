import type { Place } from '../../helpers/writ-process.ts';
import { type McpProcess, startMcp } from '../../helpers/writ-process.ts';

/** What came back for one call. */
export type Answer =
  /** The process died first. */
  | { readonly type: 'none'; readonly why: string }
  | { readonly type: 'result'; readonly structured: Readonly<Record<string, unknown>> }
  | { readonly type: 'refused'; readonly code: string; readonly text: string };

export interface Connection {
  /** Calls a tool on a living process, which is started anew when the last one was killed. `sent` once it is on its way. */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options?: { readonly cancel_after_ms?: number; readonly sent?: () => void },
  ): Promise<Answer>;
  readonly starts: () => number;
  /** What the living process has said to its log. */
  stderr(): Promise<string>;
  /** Ends it as a host does, by the end of its input. */
  end(): Promise<void>;
}

/** One agent host with its `writ mcp`. */
export function createConnection(place: Place, argv: readonly string[]): Connection {
  let current: Promise<McpProcess> | undefined;
  let starts = 0;
  let ids = 0;

  const living = async (): Promise<McpProcess> => {
    // Killed while it starts is one more kill; it can't go on for ever, since every kill belongs to one command.
    for (;;) {
      if (current === undefined) starts += 1;
      current ??= startMcp(place, { argv });
      const mine = current;
      try {
        const mcp = await mine;
        if (mcp.child.exitCode === null && mcp.child.signalCode === null) return mcp;
      } catch (thrown) {
        if (!String(thrown).includes('writ mcp ended (null)')) throw thrown;
      }
      // Another call of this connection may have started the next one by now.
      if (current === mine) current = undefined;
    }
  };

  return {
    starts: () => starts,
    stderr: async () => (await current)?.stderr() ?? '',
    async call(tool, args, options = {}) {
      const mcp = await living();
      const id = `c${ids++}`;
      const asked = mcp.ask('tools/call', { name: tool, arguments: args }, id);
      options.sent?.();
      const { cancel_after_ms } = options;
      // A client that cancels gets no answer; the call is over for it.
      const cancelled = new Promise<Answer>((resolve) => {
        if (cancel_after_ms === undefined) return;
        setTimeout(() => {
          mcp.tell('notifications/cancelled', { requestId: id, reason: 'changed my mind' });
          resolve({ type: 'none', why: 'cancelled' });
        }, cancel_after_ms);
      });
      const died = mcp.exited.then((code): Answer => ({ type: 'none', why: `writ mcp ended (${code})` }));
      return Promise.race([asked.then(answerOf, (thrown: unknown): Answer => ({ type: 'none', why: String(thrown) })), died, cancelled]);
    },
    async end() {
      const mcp = await current?.catch(() => undefined);
      await mcp?.end();
    },
  };
}

function answerOf(result: Record<string, unknown>): Answer {
  if (result['isError'] !== true) return { type: 'result', structured: (result['structuredContent'] ?? {}) as Record<string, unknown> };
  const refusal = (result['_meta'] as { 'writ/refusal'?: { code: string } } | undefined)?.['writ/refusal'];
  const [first] = result['content'] as { text?: string }[];
  return { type: 'refused', code: refusal?.code ?? '?', text: first?.text ?? '' };
}
