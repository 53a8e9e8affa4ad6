import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An MCP server (2025-11-25) that wants a token of its issuer, made for it, and says so as RFC 9728 has it. */
export interface Resource {
  readonly url: string;
  readonly origin: string;
  /** Tokens of calls that were let in, in order. */
  readonly seen: string[];
  /** Tokens that don't hold any more, whatever they say themselves. */
  readonly over: Set<string>;
  /** What its documents and challenges say; to be changed by a test. */
  readonly says: { issuer: string; resource: string; scope: string; needed: string };
  close(): Promise<void>;
}

export async function startResource(issuer: string): Promise<Resource> {
  const seen: string[] = [];
  const over = new Set<string>();
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      return send(200, { resource: says.resource, authorization_servers: [says.issuer], bearer_methods_supported: ['header'] });
    }
    if (request.url !== '/mcp') return send(404, {});
    if (request.method !== 'POST') return send(405, {});
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const claims = token === undefined ? undefined : claimsOf(token);
    if (token === undefined || over.has(token) || claims?.aud !== url) {
      return send(401, {}, { 'www-authenticate': `Bearer ${metadata}, scope="${says.scope}"` });
    }
    void bodyOf(request).then((body) => {
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { arguments?: { text?: string } } };
      if (id === undefined) return response.writeHead(202).end();
      const result = (value: object): void => send(200, { jsonrpc: '2.0', id, result: value });
      if (method === 'initialize') {
        return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } });
      }
      if (method === 'tools/list') return result({ tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: READS }] });
      if (method !== 'tools/call') return send(200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
      if (!(claims.scope ?? '').split(' ').includes(says.needed)) {
        return send(403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${says.needed}", ${metadata}` });
      }
      seen.push(token);
      return result({ content: [{ type: 'text', text: `heard ${params?.arguments?.text}` }] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const says = { issuer, resource: url, scope: 'mcp:tools', needed: 'mcp:tools' };
  return {
    url,
    origin,
    seen,
    over,
    says,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const READS = { readOnlyHint: true, openWorldHint: false };

/** Who signed it is the issuer's matter in these tests; what it is for is ours. */
function claimsOf(token: string): { readonly aud?: string; readonly scope?: string } | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
