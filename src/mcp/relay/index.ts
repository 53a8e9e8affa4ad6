export { type Door, openDoor } from './door.ts';
export type { Hello } from './hello.ts';
export { type Knocked, knock } from './knock.ts';
export { relay } from './relay.ts';
export { isOwnSocket, socketPath } from './socket-path.ts';
