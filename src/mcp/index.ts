export { REVISIONS, type Revision, SUPPORTED_REVISIONS } from './revisions.ts';
export { MAX_LINE_BYTES, serveStdio } from './stdio.ts';
export type {
  CallScope,
  ClientFacts,
  OutputEntry,
  OutputPage,
  Peer,
  Resources,
  ServerFacts,
  ServerParts,
  StdioParts,
  StdioServer,
} from './types.ts';
