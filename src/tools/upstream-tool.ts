import { AppError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import type { Masker } from '../kernel/redaction/index.ts';
import type { Assessment, Effect } from '../policy/types.ts';
import type { Upstreams } from '../upstreams/index.ts';
import type { JsonObject, UpstreamSettings, UpstreamTool } from '../upstreams/types.ts';
import { taskOutput } from './task-output.ts';
import type { Tool, ToolAnnotations, ToolOutput } from './tool.ts';

/** What its answer becomes before a model gets it: bounded, labelled, its artifacts kept. */
export type BoundAnswer = (
  result: JsonObject,
  call: {
    readonly tool: UpstreamTool;
    readonly settings: UpstreamSettings;
    readonly owner: { readonly organization: string; readonly agent: string; readonly run: string };
    readonly signal: AbortSignal;
  },
) => Promise<ToolOutput>;

const ANY_OBJECT = { type: 'object' };
/** What a refusal says is short. */
const MAX_ERROR_CHARS = 2_000;

/** A tool of an upstream, at the same gate as those of Writ. */
export function createUpstreamTool(
  tool: UpstreamTool,
  upstreams: Pick<Upstreams, 'call' | 'get' | 'incarnation' | 'tasks'>,
  bound: BoundAnswer,
  secrets: Pick<Masker, 'value'>,
): Tool<JsonObject> {
  const { exposed, server, availability } = tool;
  // Byte by byte as it came, but for what no model may see.
  const definition = secrets.value(tool.definition) as JsonObject;
  const { description, inputSchema, outputSchema } = definition;
  const hints = isObject(definition['annotations']) ? definition['annotations'] : {};
  const settings = upstreams.get(server)?.settings;
  const origin = `mcp:${server}`;
  const judgement = settings?.trust_annotations === true && hints['readOnlyHint'] === true ? READS : UNKNOWN;
  return {
    name: exposed,
    anywhere: true,
    description: typeof description === 'string' ? description : '',
    inputSchema: isObject(inputSchema) ? inputSchema : ANY_OBJECT,
    outputSchema: isObject(outputSchema) ? outputSchema : ANY_OBJECT,
    annotations: annotationsOf({ ...tool, definition }, hints),
    definition: { ...definition, name: exposed },
    ...(availability.state === 'enabled' ? {} : { hidden: true as const }),

    parse: (raw) => (isObject(raw) ? { ok: true, input: raw } : { ok: false, problem: 'The arguments must be an object.' }),

    assess() {
      if (availability.state === 'disabled') {
        return new AppError(
          'denied_by_policy',
          `The tool "${tool.name}" of the MCP server "${server}" is disabled: ${sentence(availability.reason)}`,
        );
      }
      if (availability.state === 'needs_approval') {
        return new AppError(
          'tool_unapproved',
          `The tool "${tool.name}" of the MCP server "${server}" waits for a person's approval: ${sentence(availability.reason)}`,
          {
            fix: `Look at it and approve it: writ upstream approve ${server} ${tool.name}`,
          },
        );
      }
      const { effect, reason } = judgement;
      const quiet = effect === 'safe' || settings?.low_impact === true;
      const assessment: Assessment = {
        effects: [effect],
        findings: [{ effect, span: [0, 0], argv: [exposed], reason }],
        commands: [],
        git_config_write: false,
        incarnation: upstreams.incarnation(tool),
        ...(quiet ? {} : { arms: { own: origin, reason: `"${tool.name}" of "${server}" may change something` } }),
      };
      return assessment;
    },

    async run(input, context) {
      if (settings === undefined) throw new AppError('upstream_unavailable', `The MCP server "${server}" is not configured any more.`);
      const failed = (code: AppError['code'], message: string, more: JsonObject = {}): AppError =>
        new AppError(code, `${message} (tool "${tool.name}" of the MCP server "${server}")`, { data: { ...more, origins: [origin] } });
      let answer: Awaited<ReturnType<Upstreams['call']>>;
      try {
        answer = await upstreams.call(tool, input, {
          signal: context.signal,
          scope: context.relay === undefined ? {} : { relay: context.relay },
          onProgress(params) {
            if (context.relay?.progress(params)) return;
            const { message, progress, total } = params;
            context.progress(
              typeof message === 'string' ? message : `${String(progress)}${total === undefined ? '' : ` of ${String(total)}`}`,
            );
          },
        });
      } catch (thrown) {
        if (thrown instanceof AppError) throw failed(thrown.code, thrown.message, thrown.data);
        throw thrown;
      }
      const call = { tool, settings, owner: context.owner, signal: context.signal };
      if (answer.ok && answer.result['resultType'] === 'task') {
        const { taskId } = answer.result;
        if (context.relay?.tasks !== true || typeof taskId !== 'string')
          throw failed('upstream_error', 'It made a task that nobody can ask about');
        const id = upstreams.tasks.adopt({ tool, own: taskId }, context.owner);
        return taskOutput({ ...answer.result, taskId: id }, server);
      }
      if (answer.ok) return bound(answer.result, call);
      const text = `It answered with an error: ${answer.error.message} (${answer.error.code})`;
      if (text.length <= MAX_ERROR_CHARS) throw failed('upstream_error', text);
      // Within the limits of a result, and kept like one.
      return bound({ content: [{ type: 'text', text }], isError: true }, call);
    },
  };
}

/** Some reasons are whole sentences. */
function sentence(reason: string): string {
  return reason.endsWith('.') ? reason : `${reason}.`;
}

interface Judgement {
  readonly effect: Effect;
  readonly reason: string;
}

/**
 * What a person who approved or configured it has let happen is not asked about again and again, whatever it says it may destroy: its
 * containment holds, and `arms` asks as soon as foreign text may have asked for it.
 */
const UNKNOWN: Judgement = { effect: 'unknown', reason: 'a tool of an MCP server, whose effects are not known' };
const READS: Judgement = { effect: 'safe', reason: 'a tool of an MCP server that only reads, as the server says' };

/** As MCP defines the defaults of what isn't said. */
function annotationsOf(tool: UpstreamTool, hints: JsonObject): ToolAnnotations {
  const { title } = tool.definition;
  const named = typeof hints['title'] === 'string' ? hints['title'] : title;
  return {
    title: typeof named === 'string' ? named : tool.name,
    readOnlyHint: hints['readOnlyHint'] === true,
    destructiveHint: hints['destructiveHint'] !== false,
    idempotentHint: hints['idempotentHint'] === true,
    openWorldHint: hints['openWorldHint'] !== false,
  };
}
