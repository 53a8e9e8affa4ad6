export { createUpstreamPool, type PoolParts, type UpstreamPool } from './pool.ts';
export { createServerLog, type ServerLog } from './server-log.ts';
export { expand as expandSettings } from './settings/expand.ts';
export { readSettings } from './settings/read-settings.ts';
export type * from './types.ts';
export type { Upstreams } from './upstreams.ts';
export { type JudgeTool, vetTools } from './vet.ts';
export type { Carrier } from './wire/carrier.ts';
export { createStdioCarrier } from './wire/stdio-carrier.ts';
