export type { Revision } from './revisions.ts';
export { REVISIONS } from './revisions.ts';
export { serveStdio } from './stdio.ts';
export type { CallScope, Peer, Resources, ServerParts, StdioParts, StdioServer } from './types.ts';
