import { type Bounds, createBounds } from '../connection.ts';
import type { Hold } from './body.ts';

/** HTTP requests of one agent at once, whatever they do; calls and streams have bounds of their own below it. */
export const MAX_OPEN = 160;
/** What one agent may make us keep: bodies being read and answers not yet taken. */
const MAX_HOLD_BYTES = 64 * 1024 * 1024;

/** What is counted together, however many sessions and connections it is spread over. */
export interface Agent {
  readonly bounds: Bounds;
  readonly hold: Hold;
  open: number;
}

/** By name; as many as there are credentials. */
export function createAgents(): (name: string) => Agent {
  const agents = new Map<string, Agent>();
  return (name) => {
    const known = agents.get(name);
    if (known !== undefined) return known;
    const agent = { bounds: createBounds(), hold: { max: MAX_HOLD_BYTES, bytes: 0 }, open: 0 };
    agents.set(name, agent);
    return agent;
  };
}
