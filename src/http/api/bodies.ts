import * as z from 'zod';

/** What the bodies of `/api/mcp` may hold; nothing else. An entry itself is checked like one of the file. */

const name = z.string().min(1).max(64);
const toolName = z.string().min(1).max(4_096);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal');
const entry = z.record(z.string(), z.unknown());

export const openBody = z.strictObject({ key: z.string().min(1).max(200) });

export const addBody = z.strictObject({
  name,
  entry,
  /** False: written without having been connected. */
  connect: z.boolean().default(true),
  replace: z.boolean().default(false),
});

export const changeBody = z
  .strictObject({ enabled: z.boolean().optional(), settings: entry.optional() })
  .refine((body) => body.enabled !== undefined || body.settings !== undefined, 'must hold "enabled", "settings" or both');

export const disabledBody = z.strictObject({ disabled: z.array(toolName).max(1_000) });

export const approveBody = z.union(
  [
    z.strictObject({ sha256 }),
    z.strictObject({
      tools: z
        .array(z.strictObject({ name: toolName, sha256 }))
        .min(1)
        .max(1_000),
    }),
  ],
  'must hold "sha256" of the server, or "tools", a list of {"name", "sha256"}',
);

export const toolsBody = z.strictObject({ tools: z.array(toolName).min(1).max(1_000).optional() });

export const installBody = z.strictObject({
  update: z.boolean().default(false),
  hosts: z.array(z.string().min(1).max(256)).max(50).default([]),
});

export const exchangeBody = z.strictObject({ callback_url: z.string().min(1).max(16_384) });
