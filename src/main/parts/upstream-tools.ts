import type { Foreign } from '../../mcp/index.ts';
import { type BoundAnswer, createOfferTools, createUpstreamTool, OFFER_TOOLS, type Tool, type ToolOutput } from '../../tools/index.ts';
import type { JsonObject, Upstreams, UpstreamTool } from '../../upstreams/index.ts';

/** What else they have, for clients to list. */
export function foreignOffers({ offers, instructions }: Upstreams): Foreign {
  const definitions = async (list: Promise<readonly { readonly definition: JsonObject }[]>): Promise<readonly JsonObject[]> =>
    (await list).map(({ definition }) => definition);
  return {
    tools: OFFER_TOOLS,
    resources: () => definitions(offers.resources()),
    templates: () => definitions(offers.templates()),
    prompts: () => definitions(offers.prompts()),
    instructions: () =>
      instructions()
        .map(({ server, text }) => `What the MCP server "${server}" (tools ${server}__*) says of itself:\n${text}`)
        .join('\n\n'),
  };
}

/** The tools of the upstreams for the gate; made anew when something has changed there. */
export function upstreamTools(upstreams: Upstreams): () => ReadonlyMap<string, Tool> {
  const offers = createOfferTools(upstreams).map((tool): [string, Tool] => [tool.name, tool]);
  let from: ReadonlyMap<string, UpstreamTool> | undefined;
  let made: ReadonlyMap<string, Tool> = new Map(offers);
  const bound: BoundAnswer = (result, call) => plainly(result, call, upstreams.offers);
  return () => {
    const tools = upstreams.tools();
    if (tools !== from) {
      from = tools;
      made = new Map([
        ...offers,
        ...[...tools].map(([name, tool]): [string, Tool] => [name, createUpstreamTool(tool, upstreams, bound) as Tool]),
      ]);
    }
    return made;
  };
}

async function plainly(result: JsonObject, { tool }: { readonly tool: UpstreamTool }, offers: Upstreams['offers']): Promise<ToolOutput> {
  const { content, structuredContent, isError } = result;
  return {
    structured: {},
    text: '',
    foreign: {
      content: await offers.adopt(tool.server, Array.isArray(content) ? content : []),
      ...(structuredContent === undefined ? {} : { structured: structuredContent }),
      is_error: isError === true,
    },
    evidence: { server: tool.server, is_error: isError === true },
    origins: [`mcp:${tool.server}`],
  };
}
