export { createMcpHandler } from './http/handler.ts';
export { MCP_SERVER_OPTIONS } from './http/server-options.ts';
export type { Revision } from './revisions.ts';
export { REVISIONS } from './revisions.ts';
export { serveStdio } from './stdio.ts';
export type { CallScope, HttpCaller, HttpParts, McpHandler, Peer, Resources, ServerParts, StdioParts, StdioServer } from './types.ts';
