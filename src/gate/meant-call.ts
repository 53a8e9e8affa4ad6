import { isObject } from '../kernel/json-rpc/message.ts';

/** The call that a `call_tool` means. */
export function meantCall(args: unknown): { readonly tool: string; readonly arguments: unknown } | undefined {
  if (!isObject(args) || typeof args['name'] !== 'string') return undefined;
  return { tool: args['name'], arguments: args['arguments'] ?? {} };
}
