import { createHash } from 'node:crypto';

/** What stands between the prefix and a tool's own name; neither part may hold it. */
const SEPARATOR = '__';

/** Hosts put a prefix of their own in front and models allow 64 characters altogether. */
export const MAX_EXPOSED = 45;

/** Why this is no name for a server or one of its tools, as the end of a sentence; undefined: it is one. */
export function badName(name: unknown): string | undefined {
  if (typeof name !== 'string') return name === undefined ? 'is missing' : 'is not a text';
  if (name === '') return 'is empty';
  if (name.length > 64) return `has ${name.length} characters, more than 64`;
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return 'holds more than letters A to Z, digits, "_" and "-"';
  if (name.includes(SEPARATOR)) return `holds "${SEPARATOR}", which separates server and tool`;
  return undefined;
}

/**
 * What callers see: `prefix__tool`, or the tool's name alone when the prefix is empty. What is longer than 45 characters gets an alias
 * that depends on nothing but both names, so it is the same on every machine and after every restart.
 */
export function exposedName(prefix: string, tool: string): string {
  const whole = prefix === '' ? tool : `${prefix}${SEPARATOR}${tool}`;
  return whole.length <= MAX_EXPOSED ? whole : alias(prefix, tool, tool);
}

/** The same for prompts, whose names may hold any letters and signs: those that are no names for tools get an alias too. */
export function exposedPromptName(prefix: string, prompt: string): string {
  return badName(prompt) === undefined
    ? exposedName(prefix, prompt)
    : alias(prefix, prompt, prompt.replace(/[^A-Za-z0-9-]+/g, '_') || 'prompt');
}

function alias(prefix: string, tool: string, readable: string): string {
  const hash = createHash('sha256').update(`${prefix}\0${tool}`).digest('hex').slice(0, 8);
  const front = prefix === '' ? '' : `${cut(prefix, 14)}${SEPARATOR}`;
  return `${front}${cut(readable, MAX_EXPOSED - front.length - 1 - hash.length)}_${hash}`;
}

/** No end that would make the separator longer or come twice. */
function cut(name: string, length: number): string {
  return name.slice(0, length).replace(/[_-]+$/, '');
}
