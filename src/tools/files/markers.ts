import { createHmac, randomBytes } from 'node:crypto';
import type { Redactor, Span } from '../../kernel/redaction/index.ts';

/**
 * Secrets in files are shown as `[redacted:KIND#ID]`, where ID names this very secret, so that a model can move it around and write it
 * back without having seen it. The ID comes from the secret and a key of this process: it says nothing about the secret, needs no
 * memory of what was shown, and means nothing after a restart.
 */
export interface Markers {
  mask(text: string): Masked;
  /** `text` with the secrets that `current` (the file as it is) holds put back; markers that are nowhere in it are listed. */
  restore(text: string, current: string): { readonly text: string; readonly unknown: readonly string[] };
}

export interface Masked {
  readonly text: string;
  readonly count: number;
  /** Line feeds that went away with a secret, by the line of `text` (from 0) that its marker stands in. */
  readonly swallowed: ReadonlyMap<number, number>;
}

const MARKER = /\[redacted:[a-z_]{1,40}(?:#[0-9a-f]{12})?\]/g;

export function createMarkers(redactor: Redactor): Markers {
  const key = randomBytes(32);
  const nameOf = (kind: string, secret: string): string =>
    `[redacted:${kind}#${createHmac('sha256', key).update(secret).digest('hex').slice(0, 12)}]`;
  const found = (text: string): readonly (Span & { readonly secret: string; readonly name: string })[] =>
    redactor.find(text).map((span) => {
      const secret = text.slice(span.from, span.to);
      return { ...span, secret, name: nameOf(span.kind, secret) };
    });

  return {
    mask: (text) => {
      const spans = found(text);
      if (spans.length === 0) return { text, count: 0, swallowed: new Map() };
      const swallowed = new Map<number, number>();
      let out = '';
      let done = 0;
      let line = 0;
      for (const { from, to, secret, name } of spans) {
        const before = text.slice(done, from);
        line += feeds(before);
        out += before + name;
        const gone = feeds(secret);
        if (gone > 0) swallowed.set(line, (swallowed.get(line) ?? 0) + gone);
        done = to;
      }
      return { text: out + text.slice(done), count: spans.length, swallowed };
    },

    restore: (text, current) => {
      if (!text.includes('[redacted:')) return { text, unknown: [] };
      const secrets = new Map(found(current).map(({ name, secret }) => [name, secret]));
      const unknown = new Set<string>();
      const restored = text.replace(MARKER, (marker) => {
        const secret = secrets.get(marker);
        if (secret !== undefined) return secret;
        // A file may speak of markers itself.
        if (!current.includes(marker)) unknown.add(marker);
        return marker;
      });
      return { text: restored, unknown: [...unknown] };
    },
  };
}

function feeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Why content with such markers isn't written, and what to do. */
export function unknownMarkers(unknown: readonly string[]): { readonly message: string; readonly fix: string } {
  const shown = unknown.slice(0, 3).join(', ');
  return {
    message: `The content holds ${unknown.length === 1 ? 'a marker' : 'markers'} for something that the file doesn't hold: ${shown}. Writing it would destroy a secret.`,
    fix: 'Read the file again with read_file and keep its markers as they are, or leave those lines out with patch. A secret moves to another file with shell (cp, mv).',
  };
}
