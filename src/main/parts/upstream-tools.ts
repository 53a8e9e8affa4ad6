import { createUpstreamTool, type Tool, type ToolOutput } from '../../tools/index.ts';
import type { JsonObject, Upstreams, UpstreamTool } from '../../upstreams/index.ts';

/** The tools of the upstreams for the gate; made anew when something has changed there. */
export function upstreamTools(upstreams: Upstreams): () => ReadonlyMap<string, Tool> {
  let from: ReadonlyMap<string, UpstreamTool> | undefined;
  let made: ReadonlyMap<string, Tool> = new Map();
  return () => {
    const tools = upstreams.tools();
    if (tools !== from) {
      from = tools;
      made = new Map([...tools].map(([name, tool]) => [name, createUpstreamTool(tool, upstreams, bound) as Tool]));
    }
    return made;
  };
}

async function bound(result: JsonObject, { tool }: { readonly tool: UpstreamTool }): Promise<ToolOutput> {
  const { content, structuredContent, isError } = result;
  return {
    structured: {},
    text: '',
    foreign: {
      content: Array.isArray(content) ? content : [],
      ...(structuredContent === undefined ? {} : { structured: structuredContent }),
      is_error: isError === true,
    },
    evidence: { server: tool.server, is_error: isError === true },
    origins: [`mcp:${tool.server}`],
  };
}
