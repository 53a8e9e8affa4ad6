export { startedUnattended } from './hosts.ts';
export { createMcpHandler } from './http/handler.ts';
export { rejection, TRY_AGAIN, turnAway } from './http/rejection.ts';
export { MCP_SERVER_OPTIONS } from './http/server-options.ts';
export { listedTools } from './methods/tools.ts';
export { type Door, isAnswered, openDoor } from './relay/door.ts';
export type { Hello } from './relay/hello.ts';
export { type Inquired, type Inquiry, inquire } from './relay/inquiry.ts';
export { knock } from './relay/knock.ts';
export { relay } from './relay/relay.ts';
export { listeners, openSideDoor } from './relay/side-door.ts';
export { isOwnSocket, socketPath } from './relay/socket-path.ts';
export type { Revision } from './revisions.ts';
export { REVISIONS } from './revisions.ts';
export { serveStdio } from './stdio.ts';
export type {
  CallScope,
  Foreign,
  HttpCaller,
  HttpParts,
  McpHandler,
  OutputEntry,
  OutputPage,
  Peer,
  Resources,
  ServerParts,
  StdioParts,
  StdioServer,
} from './types.ts';
