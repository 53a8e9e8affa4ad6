import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { createRedactor } from '../../kernel/redaction/index.ts';
import type { ArtifactLimits } from './artifact-retention.ts';
import { type ArtifactOwner, type ArtifactStore, createArtifacts } from './artifacts.ts';
import { type BoundResult, boundResult } from './bound-result.ts';

/** What tests of results share: a home in a folder of its own, and a server with limits. */

export const ANN: ArtifactOwner = { organization: 'org', agent: 'ann', run: 'run_1' };
export const BOB: ArtifactOwner = { organization: 'org', agent: 'bob', run: 'run_2' };

export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-results-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function freshStore(
  more: { readonly home?: string; readonly now?: () => number; readonly limits?: ArtifactLimits } = {},
): ArtifactStore {
  const home = more.home ?? join(freshFolder(), '.writ');
  mkdirSync(home, { recursive: true });
  const clock = { now: more.now ?? Date.now, monotonic: () => performance.now() };
  return createArtifacts({ home, clock, logger: silentLogger, ...(more.limits ? { limits: more.limits } : {}) });
}

export interface Bounding {
  readonly store: ArtifactStore;
  readonly max_result_chars?: number;
  readonly artifact_roots?: readonly string[];
  readonly outputSchema?: unknown;
  readonly owner?: ArtifactOwner;
}

export function bound(
  raw: unknown,
  { store, max_result_chars = 200_000, artifact_roots = [], outputSchema, owner = ANN }: Bounding,
): Promise<BoundResult> {
  return boundResult(raw, {
    settings: { name: 'srv', max_result_chars, artifact_roots },
    tool: { name: 'make', definition: { name: 'make', ...(outputSchema === undefined ? {} : { outputSchema }) } },
    owner,
    store,
    redactor: createRedactor(),
    signal: new AbortController().signal,
  });
}

export function textOf({ content }: Pick<BoundResult, 'content'>): string {
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

/** Everything of an artifact, page by page. */
export async function readAll(store: ArtifactStore, id: string, from = 0, max_bytes = 65_536): Promise<string> {
  let all = '';
  for (let cursor: number | undefined = from; cursor !== undefined; ) {
    const read = await store.read(ANN, id, { cursor, max_bytes }, new AbortController().signal);
    if (read === undefined) throw new Error(`no artifact ${id}`);
    const { content, next_cursor } = read.page;
    all += content.type === 'text' ? content.text : Buffer.from(content.data, 'base64').toString('latin1');
    cursor = next_cursor;
  }
  return all;
}
