import * as z from 'zod';
import { serverEntrySchema } from './server-entry.ts';
import { BACKENDS, EFFECT_WORDS, LOG_LEVELS, NON_INTERACTIVE_WORDS, VERDICT_WORDS } from './types.ts';

/**
 * What a configuration file may hold. Every key is optional; what is left out keeps the value of the layer below. Both files have
 * this shape, and `settings.ts` says what a project may do with it.
 */

const UNITS: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

const count = (max: number) => z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`);

/** Bytes as a number, or with a unit: "512MiB". */
const SIZE = 'must be a positive number of bytes, or a text such as "512MiB" or "4GiB"';
const bytes = z
  .union([z.int(SIZE).min(1, SIZE), z.string(SIZE).regex(/^[1-9]\d{0,5} ?(KiB|MiB|GiB)$/, SIZE)], SIZE)
  .transform((given): number => {
    if (typeof given === 'number') return given;
    const [, number, unit] = /^(\d+) ?(\w+)$/.exec(given) ?? [];
    return Number(number) * (UNITS[unit ?? ''] ?? 1);
  });

const word = z.string('must be a text').min(1, 'must not be empty').max(4096, 'must be at most 4096 characters');
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"');
const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) => z.enum(words, `must be one of ${words.join(', ')}`);

const rule = z
  .strictObject(
    {
      argv: z
        .array(z.union([word, z.array(word).min(1).max(100)], 'must be a word, or a list of alternative words'), 'must be a list of words')
        .min(1, 'must name at least one word')
        .max(100)
        .refine((words) => words.every((one, index) => one !== '**' || index === words.length - 1), '"**" may only be the last word'),
      reason: z.string().max(500).optional(),
      match: z.array(z.string().max(4096)).max(50).optional(),
      not_match: z.array(z.string().max(4096)).max(50).optional(),
    },
    { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be an object like {"argv": ["git", "push", "**"]}') },
  )
  .meta({
    description:
      'Matches the decoded words of one simple command: a literal, "*" for one word, "**" (last) for any rest, a list for alternatives.',
  });
const rules = z.array(rule, 'must be a list of rules').max(1000);

/** Questions leave the machine by it: encrypted, except to this machine itself. */
const webhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .max(2048, 'must be at most 2048 characters')
  .refine((text) => {
    const { protocol, hostname, username, password } = new URL(text);
    return (protocol === 'https:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) && username === '' && password === '';
  }, 'must begin with https:// (http:// only to localhost) and hold no user or password');

/** Any entry of a Claude Code file is taken as it is; it is checked where it is used (server-entry.ts), so that a bad one stops no other. */
const server = z.looseObject(
  {
    type: z.string().optional(),
    command: z.string().optional(),
    args: z.array(z.string(), 'must be a list of texts').optional(),
    env: z.record(z.string(), z.string(), 'must be an object of texts').optional(),
    url: z.string().optional(),
    headers: z.record(z.string(), z.string(), 'must be an object of texts').optional(),
  },
  'must be an object',
);

/** A reference of an image; never something an engine takes for an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$/;

const HOST_NAME = 'must be a host name without port';
const HOST_PLACE = 'must be a host, "*.host" or an address, with ":port" where it is not 80 or 443';
const PLACE = /^(?:(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[1-9]\d{0,4})?$/;

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  mcp_servers: z.record(name, server, 'must be an object of servers').optional(),
  dangerous: z
    .strictObject({
      classes: z.partialRecord(oneOf(EFFECT_WORDS), oneOf(VERDICT_WORDS)).optional(),
      non_interactive: oneOf(NON_INTERACTIVE_WORDS).optional(),
      deny: rules.optional(),
      prompt: rules.optional(),
      allow: rules.optional(),
    })
    .optional(),
  tools: z
    .strictObject({
      list_at_most: z.int('must be a whole number').min(0).max(2_000).optional(),
      toolsets: z.record(name, z.array(z.string().min(1).max(128), 'must be a list of tool names').max(1000)).optional(),
    })
    .optional(),
  sandbox: z
    .strictObject({
      backend: oneOf(BACKENDS).optional(),
      image: z.string().regex(IMAGE, 'must be an image such as "docker.io/library/node:24"').nullable().optional(),
      missing: oneOf(['deny', 'prompt']).optional(),
      env_pass: z
        .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name'), 'must be a list of variable names')
        .max(200)
        .optional(),
      loopback: z.array(count(65535), 'must be a list of ports').max(50).optional(),
      limits: z
        .strictObject({
          memory_bytes: bytes.optional(),
          pids: count(1_000_000).optional(),
          cpus: z.number('must be a number').positive('must be more than 0').max(4096).optional(),
          file_bytes: bytes.optional(),
          open_files: count(1_048_576).optional(),
          disk_bytes: bytes.optional(),
        })
        .optional(),
    })
    .optional(),
  shell: z
    .strictObject({
      timeout_ms: count(86_400_000).optional(),
      max_timeout_ms: count(86_400_000).optional(),
      yield_ms: count(86_400_000).optional(),
      hosts: z.record(z.string().min(1).max(64), z.strictObject({ yield_ms: count(86_400_000) })).optional(),
    })
    .optional(),
  browser: z
    .strictObject({
      allow_hosts: z.array(z.string().regex(PLACE, HOST_PLACE), 'must be a list of hosts').max(500).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      job_retention_days: count(3650).optional(),
      job_quota_bytes: bytes.optional(),
    })
    .optional(),
  approvals: z
    .strictObject({
      wait_seconds: count(86_400).optional(),
      webhook: z
        .strictObject({
          url: webhookUrl.nullable().optional(),
          secret_env: z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name')
            .nullable()
            .optional(),
        })
        .optional(),
    })
    .optional(),
  server: z
    .strictObject({
      host: word.optional(),
      port: count(65535).optional(),
      public_url: z
        .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
        .nullable()
        .optional(),
      hosts: z
        .array(
          z.string().regex(/^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])$/, HOST_NAME),
          'must be a list of host names',
        )
        .max(50)
        .optional(),
      origins: z
        .array(z.string().regex(/^https?:\/\/[^/\s?#@]+$/, 'must be an origin such as "https://app.example"'), 'must be a list of origins')
        .max(50)
        .optional(),
    })
    .optional(),
  audit: z.strictObject({ retention_days: count(36_500).optional(), retention_bytes: bytes.optional() }).optional(),
  log: z.strictObject({ level: oneOf(LOG_LEVELS).optional() }).optional(),
});

export type ConfigInput = z.output<typeof configSchema>;

/** JSON Schema (2020-12) of a configuration file, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  const generated = z.toJSONSchema(configSchema, { io: 'input' });
  const { $schema, ...rest } = generated;
  const { $schema: _, ...entry } = z.toJSONSchema(serverEntrySchema, { io: 'input' });
  const servers = { ...(rest.properties?.['mcp_servers'] as object), additionalProperties: entry };
  const properties = { ...rest.properties, mcp_servers: servers, mcpServers: servers };
  return { $schema, title: 'Writ configuration', description: '~/.writ/config.json and ./writ.json', ...rest, properties };
}
