import type { Owner } from '../../execution/index.ts';
import { resolveTool } from '../../gate/index.ts';
import type { Masker } from '../../kernel/redaction/index.ts';
import type { Foreign } from '../../mcp/index.ts';
import {
  type BoundAnswer,
  createFindTools,
  createOfferTools,
  createTaskTool,
  createUpstreamTool,
  OFFER_TOOLS,
  TASK_TOOL,
  type Tool,
} from '../../tools/index.ts';
import type { JsonObject, Upstreams, UpstreamTool } from '../../upstreams/index.ts';

/** What else they have, for clients to list. */
export function foreignOffers({ tools, offers, instructions, watch, setLevel }: Upstreams, secrets: Masker): Foreign {
  const definitions = async (list: Promise<readonly { readonly definition: JsonObject }[]>): Promise<readonly JsonObject[]> =>
    (await list).map(({ definition }) => secrets.value(definition) as JsonObject);
  return {
    tools: { ...OFFER_TOOLS, task: TASK_TOOL },
    has: (name) => tools().has(name),
    mirrored: (name) => resolveTool(name, (known) => tools().get(known))?.mirrored ?? [],
    watch,
    setLevel,
    resources: () => definitions(offers.resources()),
    templates: () => definitions(offers.templates()),
    prompts: () => definitions(offers.prompts()),
    instructions: () =>
      instructions()
        .map(({ server, text }) => `What the MCP server "${server}" (tools ${server}__*) says of itself:\n${secrets.text(text)}`)
        .join('\n\n'),
  };
}

/** The tools of the upstreams for the gate; made anew when something has changed there. */
export function upstreamTools(upstreams: Upstreams, bound: BoundAnswer, secrets: Masker): () => ReadonlyMap<string, Tool> {
  const offers = [...createOfferTools(upstreams), createTaskTool(upstreams, bound) as Tool].map((tool): [string, Tool] => [
    tool.name,
    tool,
  ]);
  let from: ReadonlyMap<string, UpstreamTool> | undefined;
  let made: ReadonlyMap<string, Tool> = new Map(offers);
  return () => {
    const tools = upstreams.tools();
    if (tools !== from) {
      from = tools;
      made = new Map([
        ...offers,
        ...[...tools].map(([name, tool]): [string, Tool] => [name, createUpstreamTool(tool, upstreams, bound, secrets) as Tool]),
      ]);
    }
    return made;
  };
}

/** For a catalogue that is too big to be listed: what the toolset of the caller has of it. */
export function findTools(
  tools: () => ReadonlyMap<string, Tool>,
  allows: (toolset: string, tool: string, owner?: Owner) => boolean,
): readonly Tool[] {
  let from: ReadonlyMap<string, Tool> | undefined;
  const byToolset = new Map<string, readonly Tool[]>();
  return createFindTools(({ toolset, owner }) => {
    const now = tools();
    if (now !== from) byToolset.clear();
    from = now;
    const key = `${toolset}\0${owner.workspace}`;
    const found = byToolset.get(key) ?? [...now.values()].filter((tool) => tool.hidden !== true && allows(toolset, tool.name, owner));
    byToolset.set(key, found);
    return found;
  });
}
