import { z } from 'zod';
import { AppError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import type { JsonObject, Upstreams } from '../upstreams/index.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import { factsOf, taskOutput } from './task-output.ts';
import type { Tool } from './tool.ts';
import type { BoundAnswer } from './upstream-tool.ts';

/** The name under which the gate knows `tasks/get`, `tasks/update` and `tasks/cancel`. It is in no list. */
export const TASK_TOOL = 'upstream_task';

const input = z.strictObject({
  ask: z.enum(['get', 'update', 'cancel']),
  taskId: z.string().min(1).max(256),
  inputResponses: z.record(z.string(), z.unknown()).optional(),
});

/** A call that goes on after its answer, asked about, answered or cancelled by whoever made it. What it was allowed to do was decided when it was made. */
export function createTaskTool(upstreams: Upstreams, bound: BoundAnswer): Tool<z.output<typeof input>> {
  return {
    name: TASK_TOOL,
    hidden: true,
    anywhere: true,
    description: 'A task of an MCP server',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: { type: 'object' },
    annotations: {
      title: 'A task of an MCP server',
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    async run({ ask, taskId, inputResponses }, { owner, signal, relay }) {
      const task = upstreams.tasks.find(taskId, owner);
      const upstream = task === undefined ? undefined : upstreams.get(task.tool.server);
      if (task === undefined || upstream === undefined) throw new AppError('not_found', 'There is no such task.');
      const { settings } = upstream;
      const { server } = task.tool;
      const answer = await upstream.request(
        `tasks/${ask}`,
        { taskId: task.own, ...(inputResponses === undefined ? {} : { inputResponses }) },
        { signal, timeout_ms: settings.timeout_ms, scope: relay === undefined ? {} : { relay } },
      );
      if (!answer.ok) {
        const { code, message } = answer.error;
        throw new AppError(
          code === -32602 ? 'not_found' : 'upstream_error',
          `The MCP server "${server}" answered with an error: ${message} (${code}).`,
          {
            data: { origins: [`mcp:${server}`] },
          },
        );
      }
      if (ask !== 'get') return taskOutput({}, server);
      const { result, inputRequests } = answer.result;
      const said = {
        taskId,
        ...factsOf(answer.result),
        ...(isObject(inputRequests) ? { inputRequests: asked(inputRequests, (params) => upstreams.tasks.attributed(params, server)) } : {}),
      };
      if (!isObject(result)) return taskOutput(said, server);
      const output = await bound(result, { tool: task.tool, settings, owner, signal });
      const { content = [], structured, is_error = false, meta } = output.foreign ?? {};
      const whole = {
        content,
        isError: is_error,
        ...(structured === undefined ? {} : { structuredContent: structured }),
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      return { ...taskOutput({ ...said, result: whole }, server), evidence: output.evidence };
    },
  };
}

/** Its questions say whose they are, as those in the course of a call do. */
function asked(requests: JsonObject, attributed: (params: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      if (!isObject(request) || request['method'] !== 'elicitation/create' || !isObject(request['params'])) return [key, request];
      return [key, { ...request, params: attributed(request['params']) }];
    }),
  );
}
