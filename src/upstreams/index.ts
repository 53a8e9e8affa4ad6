export type * from './types.ts';
export { createUpstreams, type Upstreams } from './upstreams.ts';
