import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';

/** What an approval is bound to. Everything that makes it this call and no other; the raw bytes, nothing masked. */
export interface Bound {
  readonly organization: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly cwd: string;
  /** With their access, the primary one first. */
  readonly workspaces: unknown;
  /** What policy holds, as a digest. */
  readonly policy: string;
  /** What the call was judged to do and would open: judged differently (a link that leads elsewhere now) it is another question. */
  readonly judged: unknown;
  /** What would carry it out, where that isn't Writ itself. */
  readonly incarnation?: string;
}

export function approvalDigest(bound: Bound): string {
  return `sha256:${createHash('sha256').update('writ approval 1\n').update(canonicalJson(bound)).digest('hex')}`;
}

/** This text for this tool in this folder: what a Grant of an exact command is about. */
export function commandDigest(command: {
  readonly tool: string;
  readonly what: string;
  readonly cwd: string;
  readonly workspace: string;
}): string {
  return `sha256:${createHash('sha256').update('writ command 1\n').update(canonicalJson(command)).digest('hex')}`;
}
