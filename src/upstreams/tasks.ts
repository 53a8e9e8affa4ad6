import { randomBytes } from 'node:crypto';
import { attributed } from './served.ts';
import type { JsonObject, UpstreamTool } from './types.ts';

/** A tool call that an upstream goes on with after its answer (extension `io.modelcontextprotocol/tasks`). */
export interface Task {
  readonly tool: UpstreamTool;
  /** What the upstream calls it. */
  readonly own: string;
}

interface Whose {
  readonly organization: string;
  readonly agent: string;
}

/** Which task is whose: an id that one agent was given is unknown to any other, and to the next process. */
export interface Tasks {
  /** The id that its caller gets. */
  adopt(task: Task, whose: Whose): string;
  find(id: string, whose: Whose): Task | undefined;
  /** A question of it, which says which server asks. */
  attributed(params: JsonObject, server: string): JsonObject;
}

/** The oldest goes. */
const MAX_TASKS = 10_000;

export function createTasks(): Tasks {
  const tasks = new Map<string, Task & { readonly whose: string }>();
  const keyOf = ({ organization, agent }: Whose): string => `${organization}\0${agent}`;
  return {
    attributed,
    adopt(task, whose) {
      const id = `${task.tool.server}.${randomBytes(18).toString('base64url')}`;
      tasks.set(id, { ...task, whose: keyOf(whose) });
      const [oldest] = tasks.keys();
      if (tasks.size > MAX_TASKS && oldest !== undefined) tasks.delete(oldest);
      return id;
    },
    find(id, whose) {
      const found = tasks.get(id);
      return found?.whose === keyOf(whose) ? found : undefined;
    },
  };
}
