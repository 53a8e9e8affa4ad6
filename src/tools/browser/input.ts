import { z } from 'zod';
import { type Parsed, parseWith } from '../schema.ts';

export const ACTIONS = ['navigate', 'snapshot', 'click', 'type', 'press', 'select', 'back', 'screenshot', 'close'] as const;
export type BrowserAction = (typeof ACTIONS)[number];

/** References as snapshots give them: `e12`, in a frame `f2e12`. */
const ref = z.string().regex(/^(f\d{1,5})?e\d{1,9}$/, 'must be a reference of the last snapshot, such as "e12"');

export const browserInput = z.strictObject({
  action: z.enum(ACTIONS),
  url: z.string().min(1).max(16_384).optional().describe('navigate: the address, http or https.'),
  ref: ref.optional().describe('click, type, select, press: an element of the last snapshot, such as "e12".'),
  text: z.string().max(20_000).optional().describe('type: replaces what is in the field. It is never recorded.'),
  submit: z.boolean().optional().describe('type: press Enter afterwards.'),
  key: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('press: "Enter", "Escape", "ArrowDown", "Control+a"; in `ref`, or wherever the focus is.'),
  values: z.array(z.string().max(1000)).min(1).max(50).optional().describe('select: values or labels of options.'),
  offset: z.int().min(1).optional().describe('snapshot: first line to show, counted from 1.'),
});
export type BrowserInput = z.infer<typeof browserInput>;

type Argument = Exclude<keyof BrowserInput, 'action'>;

/** What each action needs, and what else it takes. */
const ARGUMENTS: Readonly<Record<BrowserAction, { readonly needs: readonly Argument[]; readonly takes: readonly Argument[] }>> = {
  navigate: { needs: ['url'], takes: [] },
  snapshot: { needs: [], takes: ['offset'] },
  click: { needs: ['ref'], takes: [] },
  type: { needs: ['ref', 'text'], takes: ['submit'] },
  press: { needs: ['key'], takes: ['ref'] },
  select: { needs: ['ref', 'values'], takes: [] },
  back: { needs: [], takes: [] },
  screenshot: { needs: [], takes: [] },
  close: { needs: [], takes: [] },
};

export function parseBrowserInput(raw: unknown): Parsed<BrowserInput> {
  const parsed = parseWith(browserInput, raw);
  if (!parsed.ok) return parsed;
  const { action, ...given } = parsed.input;
  const { needs, takes } = ARGUMENTS[action];
  const missing = needs.find((name) => given[name] === undefined);
  if (missing !== undefined) return { ok: false, problem: `Invalid arguments: ${missing}: "${action}" needs it.` };
  const names = Object.keys(given).filter((name) => given[name as Argument] !== undefined);
  const extra = names.find((name) => ![...needs, ...takes].some((one) => one === name));
  return extra === undefined ? parsed : { ok: false, problem: `Invalid arguments: ${extra}: "${action}" does not take it.` };
}

/** The raw arguments as the record keeps them: what was typed may be a password, and is nowhere but on the page. */
export function recordedInput(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || !('text' in raw)) return raw;
  const { text } = raw;
  return { ...raw, text: typeof text === 'string' ? `[${text.length} characters]` : '[not a text]' };
}
