import { AppError } from '../../src/kernel/errors.ts';
import type { Assessment, Effect } from '../../src/policy/types.ts';
import type { CallContext, Tool, ToolOutput } from '../../src/tools/tool.ts';

/**
 * The tools that the scenarios of @modelcontextprotocol/conformance call by name, as far as a tool of Writ can do what they want. Those that
 * ask a person do it the way Writ does: they need a yes, and it is the gate that asks.
 */

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

interface Fixture {
  readonly name: string;
  readonly effect?: Effect;
  readonly inputSchema?: Tool['inputSchema'];
  run?(context: CallContext): Partial<ToolOutput> | Promise<Partial<ToolOutput>>;
}

const FIXTURES: readonly Fixture[] = [
  { name: 'test_simple_text', run: () => ({ text: 'This is a simple text response for testing.' }) },
  { name: 'test_image_content', run: () => ({ images: [{ mime_type: 'image/png', data: PNG }] }) },
  {
    name: 'test_error_handling',
    run: () => {
      throw new AppError('not_found', 'This tool intentionally returns an error for testing.');
    },
  },
  {
    name: 'test_tool_with_progress',
    run: async (context) => {
      for (const message of ['begun', 'half of it is done', 'done']) {
        context.progress(message);
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      return {};
    },
  },
  { name: 'test_reconnection' },
  { name: 'test_logging_tool' },
  { name: 'test_streaming_elicitation', effect: 'network_egress' },
  { name: 'test_elicitation', effect: 'network_egress' },
  { name: 'test_input_required_result_elicitation', effect: 'network_egress' },
  { name: 'test_input_required_result_request_state', effect: 'network_egress' },
  { name: 'test_input_required_result_tampered_state', effect: 'network_egress' },
  {
    name: 'json_schema_2020_12_tool',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  },
];

function assessmentOf(name: string, effect: Effect): Assessment {
  const finding = {
    effect,
    span: [0, name.length],
    argv: [name],
    reason: 'a person is to be asked',
    opens: { type: 'hosts', hosts: ['example.com'], presets: [] },
  } as const;
  return { effects: [effect], findings: effect === 'safe' ? [] : [finding], commands: [], git_config_write: false };
}

export const FIXTURE_TOOLS: readonly Tool[] = FIXTURES.map(({ name, effect = 'safe', inputSchema, run }) => ({
  name,
  description: `For the scenarios of the conformance suite: ${name}`,
  inputSchema: inputSchema ?? { type: 'object', properties: {} },
  outputSchema: { type: 'object', properties: {} },
  annotations: { title: name, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: (raw: unknown) => ({ ok: true, input: raw }),
  assess: () => assessmentOf(name, effect),
  run: async (_input, context) => ({ structured: {}, text: 'done', evidence: {}, ...(await run?.(context)) }),
}));
