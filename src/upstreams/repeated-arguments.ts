import { paramHeadersOf } from '../kernel/json-rpc/param-headers.ts';
import type { JsonObject, UpstreamSettings, UpstreamTool } from './types.ts';
import type { Era } from './wire/client.ts';

/** Over HTTP, in the revision that has it, headers repeat what the tool says of its arguments. */
export function repeatedArguments(
  { transport }: UpstreamSettings,
  era: Era,
  tool: UpstreamTool | undefined,
  params: JsonObject,
): Record<string, string> | undefined {
  const use = tool?.mirrored !== undefined && transport.type === 'http' && era === 'stateless';
  return use ? paramHeadersOf(tool.mirrored, params['arguments']) : undefined;
}
