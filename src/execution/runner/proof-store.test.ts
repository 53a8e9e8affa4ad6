import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { fullReport } from '../containment/dimensions.ts';
import type { Proof, ProofStore } from '../core-types.ts';
import { createProofStore, PROOFS } from './proof-store.ts';

const PROOF: Proof = {
  key: 'a key',
  probed_at: 7,
  report: { backend: 'bubblewrap', dimensions: fullReport({}), notes: ['a note'] },
  backend_version: '0.8.0',
};

let home: string;
let store: ProofStore;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-proofs-'));
  store = createProofStore(home, silentLogger);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = (): string => join(home, PROOFS, 'self.json');

it('gives back what it was given, for this mode, until it is dropped', () => {
  expect(store.load('self')).toBeUndefined();
  store.save('self', { ...PROOF, key: 'before' });
  store.save('self', PROOF);
  expect(createProofStore(home, silentLogger).load('self')).toMatchObject(PROOF);
  expect(store.load('dropped')).toBeUndefined();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(home, PROOFS))).toEqual(['self.json']);
  store.drop('self');
  store.drop('self');
  expect(store.load('self')).toBeUndefined();
});

const edited = (change: (proof: Record<string, unknown>) => void): void => {
  const proof = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;
  change(proof);
  writeFileSync(file(), JSON.stringify(proof));
};

const replace = (make: () => void): void => {
  renameSync(file(), `${file()}.real`);
  make();
};

it.each<[string, () => void]>([
  ['empty', () => writeFileSync(file(), '')],
  ['torn', () => writeFileSync(file(), readFileSync(file(), 'utf8').slice(0, 300))],
  ['of another format', () => edited((proof) => Object.assign(proof, { version: 2 }))],
  ['without a key', () => edited((proof) => delete proof['key'])],
  [
    'silent about a dimension',
    () => edited((proof) => delete (proof as { report: { dimensions: { network?: unknown } } }).report.dimensions.network),
  ],
  ['of states that nobody knows', () => writeFileSync(file(), readFileSync(file(), 'utf8').replaceAll('not_enforced', 'sure'))],
  ['huge', () => writeFileSync(file(), Buffer.alloc(17 * 1024 * 1024, ' '))],
  ['readable for others', () => chmodSync(file(), 0o644)],
  ['a folder', () => replace(() => mkdirSync(file()))],
  ['a link', () => replace(() => symlinkSync(`${file()}.real`, file()))],
  ['a pipe', () => replace(() => execFileSync('mkfifo', ['-m', '600', file()]))],
])('takes a file that is %s for none', (_what, spoil) => {
  store.save('self', PROOF);
  spoil();
  expect(store.load('self')).toBeUndefined();
});

it('does without a folder that it can’t make', () => {
  writeFileSync(join(home, PROOFS), '');
  store.save('self', PROOF);
  store.drop('self');
  expect(store.load('self')).toBeUndefined();
});
