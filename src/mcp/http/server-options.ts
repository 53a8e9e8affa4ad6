import type { ServerOptions } from 'node:http';

/**
 * For `http.createServer`: what a slow, silent or huge request may cost. The time for a whole request covers its body too; answers may take as
 * long as they like, and a reader that takes nothing is dealt with by the handler.
 */
export const MCP_SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  // Above what hosts' HTTP clients keep idle connections for, so that it is mostly they who close.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
  insecureHTTPParser: false,
} as const satisfies ServerOptions;
