import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { SigningKey } from './key.ts';

/** Canonical JSON of a body and `sig`, without a newline. `context` keeps a signature made for one kind from meaning anything in another. */
export function signLine(context: string, body: object, key: SigningKey): string {
  const sig = sign(null, signed(context, body), key.private).toString('base64');
  return canonicalJson({ ...body, sig });
}

export function lineSignatureHolds(context: string, line: string, key: KeyObject): boolean {
  const { sig, ...body } = JSON.parse(line);
  if (typeof sig !== 'string') return false;
  const raw = Buffer.from(sig, 'base64');
  // Base64 has several spellings of the same bytes; only the one we write is ours.
  return raw.toString('base64') === sig && verify(null, signed(context, body), key, raw);
}

/** The body of a line that is spelled exactly as `signLine` spells it; undefined for anything else. */
export function bodyOf(line: string): Record<string, unknown> | undefined {
  try {
    const { sig, ...body } = JSON.parse(line);
    return typeof sig === 'string' && canonicalJson({ ...body, sig }) === line ? body : undefined;
  } catch {
    return undefined;
  }
}

function signed(context: string, body: object): Buffer {
  return Buffer.from(`${context}\n${canonicalJson(body)}`, 'utf8');
}
