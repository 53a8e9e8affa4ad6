import * as z from 'zod';

/**
 * One entry of `mcp_servers` in full: what the keys are called and what they may hold. The configuration as a whole takes any entry (a bad
 * one must not keep the others from working); it is checked against this when it is used, and the JSON Schema for editors is made of it.
 * What a project may not say is in `upstreams/settings`.
 */

const MIB = 1024 ** 2;

/** What holds where a key is left out. */
export const SERVER_DEFAULTS = {
  timeout_seconds: 30,
  connect_timeout_seconds: 20,
  /** Never. */
  idle_stop_seconds: 0,
  max_response_bytes: 10 * MIB,
  max_result_chars: 200_000,
  concurrency: 64,
} as const;

/** Seconds and characters beyond these are brought back to them with a warning; more bytes or calls are refused. */
export const SERVER_LIMITS = {
  seconds: 3_600,
  /** A week; a timer of Node that is longer than 24 days is over at once. */
  idle_seconds: 604_800,
  response_bytes: 64 * MIB,
  /** With less there is no room for saying that something was left out. */
  least_result_chars: 1_000,
  result_chars: 1_000_000,
  concurrency: 1_024,
} as const;

const SECONDS = 'must be a number of seconds above 0';
const COUNT = 'must be a whole number of at least 1';
const SIZE = 'must be a positive number of bytes, or a text such as "10MiB"';
const NAMES = 'must be a list of names';
const YES_NO = 'must be true or false';

const seconds = z.number(SECONDS).positive(SECONDS);
const count = z.int(COUNT).min(1, COUNT);
const yesNo = z.boolean(YES_NO);
const text = (what: string, max = 4096) =>
  z
    .string(`must be ${what}`)
    .min(1, `must be ${what}`)
    .max(max, `must be at most ${max} characters`)
    .refine((given) => !given.includes('\0'), 'must not hold a NUL character');
const texts = (what: string, most: number) => z.array(text('a text'), `must be ${what}`).max(most, `must be at most ${most}`);

const bytes = z
  .union([z.int(SIZE).min(1, SIZE), z.string(SIZE).regex(/^[1-9]\d{0,9} ?(KiB|MiB)?$/, SIZE)], SIZE)
  .transform((given): number => {
    if (typeof given === 'number') return given;
    const [, number, unit] = /^(\d+) ?(\w*)$/.exec(given) ?? [];
    return Number(number) * (unit === 'MiB' ? MIB : unit === 'KiB' ? 1024 : 1);
  });

const variables = z
  .record(
    z.string().regex(/^[^=\0]{1,256}$/, 'is no name of a variable'),
    z
      .string('must be a text')
      .max(65_536, 'must be at most 65536 characters')
      .refine((given) => !given.includes('\0'), 'must not hold a NUL character'),
    'must be an object of texts',
  )
  .refine((given) => Object.keys(given).length <= 500, 'must hold at most 500 variables');

const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'is no name of a header'),
    z
      .string('must be a text')
      .max(16_384, 'must be at most 16384 characters')
      .regex(/^[^\r\n\0]*$/, 'must be one line'),
    'must be an object of texts',
  )
  .refine((given) => Object.keys(given).length <= 100, 'must hold at most 100 headers');

const access = z.enum(['read', 'write'], 'must be "read" or "write"');
const root = z.union(
  [text('a path'), z.strictObject({ path: text('a path'), access: access.optional() })],
  'must be a path, or {"path": "/somewhere", "access": "write"}',
);

const NETWORK = 'must be "none", "full", a list of hosts, or {"hosts": [...], "presets": [...]}';
const hosts = texts('a list of hosts', 200);
const network = z.union([z.enum(['none', 'full']), hosts, z.strictObject({ hosts: hosts.optional(), presets: hosts.optional() })], NETWORK);

const OAUTH = 'must be false, or an object of client_id, client_secret, scopes, issuer, callback_port and keys_file';
const oauth = z.union(
  [
    z.literal(false),
    z.strictObject({
      client_id: text('a text', 2048).optional(),
      client_secret: text('a text').optional(),
      scopes: z
        .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/))
        .max(100)
        .optional(),
      issuer: z
        .url({ protocol: /^https?$/ })
        .max(2048)
        .optional(),
      callback_port: z.int().min(1).max(65_535).optional(),
      keys_file: text('a path').optional(),
    }),
  ],
  OAUTH,
);

const described = <T extends z.ZodType>(type: T, description: string) => type.optional().meta({ description });

export const serverEntrySchema = z.looseObject(
  {
    type: described(z.string('must be a text'), 'stdio, http (also streamable-http) or sse; not needed where command or url says it'),
    command: described(text('a program'), 'Program of a stdio server; never through a shell'),
    args: described(
      z
        .array(z.string('must be a text').max(65_536, 'must be at most 65536 characters'), 'must be a list of texts')
        .max(1000, 'must be at most 1000'),
      'Its arguments. Everybody on the machine can read them: no secrets',
    ),
    cwd: described(text('a path'), 'Folder it starts in'),
    env: described(
      variables,
      `Its variables: \${NAME} and \${NAME:-default} for declared names, \${secret:NAME} from the secret store; an empty text removes one`,
    ),
    url: described(text('an address', 8192), `Address of a remote server; \${...} as in env`),
    headers: described(headers, `Sent to a remote server; \${...} as in env`),
    oauth: described(
      oauth,
      `How a person logs in to a remote server where it doesn't say so itself: client_id and client_secret (\${secret:NAME}) of a client that was registered beforehand, scopes, the one issuer that is right, callback_port, keys_file of Google below ~/.writ/mcp_oauth; false: never`,
    ),
    env_secrets: described(
      z.array(z.string(NAMES).regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'must be names of variables'), NAMES).max(200, 'must be at most 200'),
      `Declared names: \${NAME} is expanded for them, and variables that look like secrets are passed`,
    ),
    enabled: described(yesNo, 'false: it is listed and never started'),
    disabled: described(yesNo, 'The same the other way round'),
    prefix: described(
      z.string('must be a text').regex(/^[A-Za-z0-9_-]{0,64}$/, 'must be up to 64 letters, digits, "_" or "-"'),
      'In front of the names of its tools, with "__"; the name of the server where it is left out, "" for none',
    ),
    disabled_tools: described(texts(NAMES.slice(8), 1000), 'Names of its tools that nobody may call'),
    require_approval: described(yesNo, "Each of its tools needs a person's yes before its first use; always so for a project's server"),
    trust_annotations: described(
      yesNo,
      "A tool that only reads, as it says, is believed to: true where it is left out, never for a project's server",
    ),
    low_impact: described(yesNo, 'Calls to it never ask because untrusted text was read before'),
    timeout_seconds: described(
      seconds,
      `Longest time of one call: ${SERVER_DEFAULTS.timeout_seconds} where it is left out, at most ${SERVER_LIMITS.seconds}`,
    ),
    connect_timeout_seconds: described(
      seconds,
      `Longest time until it is ready: ${SERVER_DEFAULTS.connect_timeout_seconds} where it is left out, at most ${SERVER_LIMITS.seconds}`,
    ),
    max_response_bytes: described(
      bytes,
      `Largest message taken from it, as a number or as "20MiB": ${SERVER_DEFAULTS.max_response_bytes / MIB} MiB where it is left out, at most ${SERVER_LIMITS.response_bytes / MIB} MiB`,
    ),
    max_result_chars: described(
      count,
      `Characters that a model is given of one result: ${SERVER_DEFAULTS.max_result_chars} where it is left out, at most ${SERVER_LIMITS.result_chars}`,
    ),
    concurrency: described(
      count.max(SERVER_LIMITS.concurrency, `must be at most ${SERVER_LIMITS.concurrency}`),
      `Calls at once: ${SERVER_DEFAULTS.concurrency} where it is left out`,
    ),
    idle_stop_seconds: described(
      seconds,
      `It is stopped when unused for so long, at most ${SERVER_LIMITS.idle_seconds} (a week); never where it is left out`,
    ),
    roots: described(
      z.array(root, 'must be a list of folders').max(32, 'must be at most 32'),
      'Folders it may see, to read unless access is "write"; the rest of the machine is not there for it',
    ),
    artifact_roots: described(
      z
        .array(z.string('must be a path').max(4096, 'must be at most 4096 characters'), 'must be a list of folders')
        .max(32, 'must be at most 32'),
      'Folders below which files that it refers to may be read; none where it is left out',
    ),
    network: described(
      network,
      "none, full, or what it may reach: hosts as example.com, *.example.com, host:port; presets as npm or github. Where it is left out: full, none for a project's server",
    ),
    unix_sockets: described(texts('a list of paths', 32), 'Sockets of the machine that it may use'),
    dev_shm: described(yesNo, 'It gets shared memory of its own (browsers need it)'),
    nested_userns: described(yesNo, 'It may build sandboxes of its own (browsers do)'),
  },
  'must be an object',
);

export type ServerEntry = z.output<typeof serverEntrySchema>;
