import { readFileSync } from 'node:fs';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Revision } from '../../src/mcp/index.ts';

/** Checks messages of ours against the official schema of a revision (test/corpora/mcp-schema). */

export type Message = Record<string, unknown>;
type Check = (value: unknown) => void;

const RESULTS: Record<string, string> = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
};

export interface SchemaOf {
  /** `method` is that of the request it answers. */
  result(method: string, message: unknown): void;
  error(message: unknown): void;
  notification(message: unknown): void;
  request(message: unknown): void;
}

const loaded = new Map<Revision, SchemaOf>();

export function schemaOf(revision: Revision): SchemaOf {
  const known = loaded.get(revision) ?? load(revision);
  loaded.set(revision, known);
  return known;
}

function load(revision: Revision): SchemaOf {
  const file = JSON.parse(readFileSync(new URL(`../corpora/mcp-schema/${revision}.json`, import.meta.url), 'utf8'));
  const place = '$defs' in file ? '$defs' : 'definitions';
  const definitions = file[place];
  const validator = new AjvJsonSchemaValidator();
  const checks = new Map<string, Check>();

  function check(name: string, value: unknown): void {
    if (!(name in definitions)) throw new Error(`${revision} has no ${name}`);
    let run = checks.get(name);
    if (run === undefined) {
      const validate = validator.getValidator({ $ref: `#/${place}/${name}`, [place]: definitions });
      run = (each) => {
        const { valid, errorMessage } = validate(each);
        if (!valid) throw new Error(`not a ${name} of ${revision}: ${errorMessage}\n${JSON.stringify(each)}`);
      };
      checks.set(name, run);
    }
    run(value);
  }

  return {
    result(method, message) {
      check('JSONRPCResultResponse' in definitions ? 'JSONRPCResultResponse' : 'JSONRPCResponse', message);
      const result = (message as { result: Message }).result;
      const isQuestion = method === 'tools/call' && result['resultType'] === 'input_required';
      check(isQuestion ? 'InputRequiredResult' : (RESULTS[method] ?? 'none'), result);
    },
    error(message) {
      const { id, ...rest } = message as Message;
      const name = 'JSONRPCErrorResponse' in definitions ? 'JSONRPCErrorResponse' : 'JSONRPCError';
      // The two oldest schemas demand an id even where none could be read; there we send JSON-RPC's null.
      check(name, id === null && name === 'JSONRPCError' ? { id: 0, ...rest } : message);
      if ((message as { error: { code: number } }).error.code === -32022) check('UnsupportedProtocolVersionError', message);
    },
    notification: (message) => check('ServerNotification', message),
    request: (message) => check('ServerRequest', message),
  };
}
