import { z } from 'zod';
import { AppError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import type { JsonObject, OfferOwner, Upstreams } from '../upstreams/index.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { CallContext, Tool, ToolOutput } from './tool.ts';

/** The names under which the gate knows what clients ask for by other methods than tools/call. They are in no list. */
export const OFFER_TOOLS = { resource: 'upstream_resource', prompt: 'upstream_prompt', completion: 'upstream_completion' } as const;

const resource = z.strictObject({ uri: z.string().min(1).max(8_192) });
const prompt = z.strictObject({ name: z.string().min(1).max(256), arguments: z.record(z.string(), z.string()).optional() });
const completion = z.strictObject({
  ref: z.looseObject({ type: z.string(), uri: z.string().optional(), name: z.string().optional() }),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({}).optional(),
});

const READY_MS = 8_000;
const ANSWER = { type: 'object' };
const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

/** Resources, prompts and completions of upstreams: asked of whoever has them, through the gate like any tool. */
export function createOfferTools(upstreams: Upstreams): readonly Tool[] {
  const { offers } = upstreams;

  /** What nobody has may be of a server that is still on its way. */
  async function lookUp(look: () => Promise<OfferOwner | undefined>): Promise<OfferOwner | undefined> {
    const found = await look();
    if (found !== undefined) return found;
    await upstreams.ready(READY_MS);
    return look();
  }

  const tool = <Input>(
    name: string,
    title: string,
    schema: z.ZodType<Input>,
    ask: (input: Input) => Promise<{ readonly server: string; readonly method: string; readonly params: JsonObject }>,
    shape: (result: JsonObject, input: Input, server: string) => Promise<JsonObject> = async (result) => result,
  ): Tool<Input> => ({
    name,
    hidden: true,
    anywhere: true,
    description: title,
    inputSchema: wireSchema(schema, 'input'),
    outputSchema: ANSWER,
    annotations: { title, ...READING },
    parse: (raw) => parseWith(schema, raw),
    assess: () => readsOnly,
    async run(input, context) {
      const { server, method, params } = await ask(input);
      const result = await request(upstreams, { server, method, params }, context);
      return answerOf(server, await shape(result, input, server), upstreams);
    },
  });

  return [
    tool(
      OFFER_TOOLS.resource,
      'Read a resource of an MCP server',
      resource,
      async ({ uri }) => {
        const { server, own } = ownerOf(await lookUp(() => offers.ownerOf(uri)), `resource ${uri}`);
        return { server, method: 'resources/read', params: { uri: own } };
      },
      // Under the address that it was asked for.
      async (result, { uri }, server) => {
        const owner = await offers.ownerOf(uri);
        const own = owner?.type === 'owner' && owner.server === server ? owner.own : uri;
        const contents = Array.isArray(result['contents']) ? result['contents'] : [];
        return { ...result, contents: contents.map((each: unknown) => (isObject(each) && each['uri'] === own ? { ...each, uri } : each)) };
      },
    ),
    tool(
      OFFER_TOOLS.prompt,
      'Get a prompt of an MCP server',
      prompt,
      async (input) => {
        const { server, own } = ownerOf(await lookUp(() => offers.promptOwner(input.name)), `prompt ${input.name}`);
        return {
          server,
          method: 'prompts/get',
          params: { name: own, ...(input.arguments === undefined ? {} : { arguments: input.arguments }) },
        };
      },
      async (result, _input, server) => {
        const messages = Array.isArray(result['messages']) ? result['messages'].filter(isObject) : [];
        const contents = await offers.adopt(
          server,
          messages.map(({ content }) => (isObject(content) ? content : {})),
        );
        return { ...result, messages: messages.map((message, index) => ({ ...message, content: contents[index] })) };
      },
    ),
    tool(OFFER_TOOLS.completion, 'Complete an argument for an MCP server', completion, async ({ ref, argument, context }) => {
      const { uri, name } = ref;
      const owner = await lookUp(() => (uri === undefined ? offers.promptOwner(name ?? '') : offers.ownerOf(uri)));
      const { server, own } = ownerOf(owner, uri === undefined ? `prompt ${name ?? ''}` : `resource ${uri}`);
      const asked = uri === undefined ? { ...ref, name: own } : { ...ref, uri: own };
      return { server, method: 'completion/complete', params: { ref: asked, argument, ...(context === undefined ? {} : { context }) } };
    }),
  ] as readonly Tool[];
}

function ownerOf(owner: OfferOwner | undefined, what: string): { readonly server: string; readonly own: string } {
  if (owner?.type === 'owner') return owner;
  if (owner === undefined) throw new AppError('not_found', `No MCP server has the ${what.slice(0, 200)}.`);
  throw new AppError('invalid_arguments', `Several MCP servers have the ${what.slice(0, 200)}: ${owner.servers.join(', ')}.`, {
    fix: `Ask for it as resources/list shows it, or as writ://upstream/SERVER/ and the address, percent-encoded.`,
  });
}

async function request(
  upstreams: Upstreams,
  { server, method, params }: { readonly server: string; readonly method: string; readonly params: JsonObject },
  { signal, relay }: CallContext,
): Promise<JsonObject> {
  const upstream = upstreams.get(server);
  if (upstream === undefined) throw new AppError('not_found', `There is no MCP server "${server}".`);
  const { timeout_ms } = upstream.settings;
  const answer = await upstream.request(method, params, { signal, timeout_ms, scope: relay === undefined ? {} : { relay } });
  if (answer.ok) return answer.result;
  const { code, message } = answer.error;
  const missing = code === -32002 || code === -32602;
  throw new AppError(missing ? 'not_found' : 'upstream_error', `The MCP server "${server}" answered with an error: ${message} (${code}).`, {
    data: { origins: [`mcp:${server}`] },
  });
}

/** Whole or not at all: half a file, or half of what a prompt says, is another one. */
function answerOf(server: string, result: JsonObject, upstreams: Upstreams): ToolOutput {
  const most = upstreams.get(server)?.settings.max_result_chars ?? 0;
  const chars = JSON.stringify(result).length;
  if (chars > most) {
    throw new AppError(
      'upstream_error',
      `What the MCP server "${server}" gave has ${chars} characters, more than the ${most} of max_result_chars.`,
      {
        fix: `Raise max_result_chars of "${server}" (1,000,000 at most).`,
        data: { origins: [`mcp:${server}`] },
      },
    );
  }
  return {
    structured: {},
    text: '',
    foreign: { content: [], structured: result, is_error: false },
    evidence: { server, chars },
    origins: [`mcp:${server}`],
  };
}
