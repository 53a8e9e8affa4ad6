/** One connection to an MCP server, whatever carries it. */
export interface Exchange {
  /** The answer, once it has come. */
  ask(message: { readonly id: number; readonly method: string; readonly params: object }): Promise<unknown>;
  tell(message: { readonly method: string }): Promise<void>;
  close(): void;
}

/** Shakes hands, and calls the tool from then on; insists on the right answer. */
export async function callsOf(exchange: Exchange, tool: string, args: object): Promise<() => Promise<void>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  await exchange.ask({ id: 0, method: 'initialize', params });
  await exchange.tell({ method: 'notifications/initialized' });
  let last = 0;
  return async () => {
    const id = ++last;
    const message = await exchange.ask({ id, method: 'tools/call', params: { name: tool, arguments: args } });
    const { result, ...answer } = message as { readonly id?: unknown; readonly result?: { readonly isError?: boolean } };
    if (answer.id !== id || result === undefined || result.isError) throw new Error(JSON.stringify(message));
  };
}
