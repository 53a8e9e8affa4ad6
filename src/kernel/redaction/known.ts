import type { Finder, Match } from './finder.ts';

/** Shorter values would hit ordinary text. */
const MIN_LENGTH = 8;
/** Longer ones are compared this far: a private key is told by its first kilobytes. */
const MAX_LENGTH = 16_384;
/** So much must agree before the rest is looked at, which keeps near misses cheap. */
const PROBE = 64;

/**
 * A value as it may appear: as it is, in an address or a form, in JSON (twice over, in ASCII, and as Go writes it), in HTML, in hexadecimal, and in
 * base64 at each of its three phases.
 */
export function knownForms(values: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const given of values) {
    const value = given.slice(0, MAX_LENGTH);
    if (!isDistinct(value)) continue;
    const bytes = Buffer.from(value, 'utf8');
    const escaped = JSON.stringify(value).slice(1, -1);
    for (const form of [value, value.trim(), ...inAddresses(value), ...inJson(escaped), inHtml(value), bytes.toString('hex')])
      forms.add(form);
    forms.add(bytes.toString('base64').replace(/=+$/, ''));
    forms.add(bytes.toString('base64url'));
    for (const phase of [0, 1, 2]) {
      // Characters that also encode a neighbour are left out at both ends.
      const padded = Buffer.concat([Buffer.alloc(phase), bytes]);
      const core = padded.toString('base64').slice(phase === 0 ? 0 : phase + 1, Math.floor((padded.length * 8) / 6));
      if (core.length < 10) continue;
      forms.add(core);
      forms.add(core.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  return [...forms].filter((form) => form.length >= MIN_LENGTH).sort((a, b) => b.length - a.length);
}

export function findKnown(form: string): Finder {
  const probe = form.slice(0, PROBE);
  return (text, at, { final }) => {
    if (text.startsWith(form, at)) return { from: at, to: at + form.length, kind: 'known_value' } satisfies Match;
    if (final || text.length - at >= form.length) return undefined;
    const rest = text.slice(at);
    return probe.startsWith(rest.slice(0, PROBE)) && form.startsWith(rest) ? 'more' : undefined;
  };
}

/** "true", "xxxxxxxx", "12345678" or a path may be the value of a variable and still stand everywhere. */
function isDistinct(value: string): boolean {
  if (value.trim().length < MIN_LENGTH || new Set(value).size < 4) return false;
  if (/^\d+$/.test(value)) return value.length >= 12;
  return !/^(?:\/[\w.-]+)+\/?$|^[a-z]{8,11}$/.test(value);
}

function inAddresses(value: string): readonly string[] {
  const percent = percentOf(value);
  // The signs that RFC 3986 encodes and JavaScript doesn't.
  const strict = percent.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  return [percent, percent.toLowerCase(), strict, form];
}

function percentOf(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value; // an unpaired surrogate has no percent form
  }
}

/** `escaped`: as JSON.stringify has it, between the quotes. */
function inJson(escaped: string): readonly string[] {
  const unicode = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return [escaped, JSON.stringify(escaped).slice(1, -1), escaped.replace(/[\u007f-\uffff]/g, unicode), escaped.replace(/[&<>]/g, unicode)];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function inHtml(value: string): string {
  return value.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
