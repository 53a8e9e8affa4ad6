import type { JsonObject } from '../upstreams/types.ts';
import type { ToolOutput } from './tool.ts';

/** What is known of a task; what else its server says of it is not passed on. */
const FACTS = ['status', 'statusMessage', 'createdAt', 'lastUpdatedAt', 'ttlMs', 'pollIntervalMs', 'error'] as const;

export function taskOutput(task: JsonObject, server: string): ToolOutput {
  const kept = { ...factsOf(task), ...pick(task, ['taskId', 'inputRequests', 'result']) };
  return {
    structured: {},
    text: '',
    foreign: { content: [], is_error: false, task: kept },
    evidence: { server, task: String(task['status'] ?? '') },
    origins: [`mcp:${server}`],
  };
}

export function factsOf(said: JsonObject): JsonObject {
  return pick(said, FACTS);
}

function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}
