import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packRows, unpackRows } from '../../src/audit/archive-file.ts';
import type { StoredRow } from '../../src/audit/chain-walk.ts';
import { archiveNow, type FindingKind, verifyAudit } from '../../src/audit/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { databaseFile } from '../../src/store/index.ts';
import { copyOf, event, openRecord, raw, temporaryHome } from './support.ts';

/** Random records: several chains, two Organizations, seals and archives at random places, unsealed rows at the end. */
const script = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ step: fc.constant('add' as const), log: fc.nat(2), data: fc.jsonValue({ maxDepth: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('seal' as const), log: fc.nat(2) }) },
    {
      weight: 1,
      arbitrary: fc.record({ step: fc.constant('archive' as const), log: fc.nat(2), keep: fc.integer({ min: 1, max: 2_000 }) }),
    },
  ),
  { minLength: 10, maxLength: 40 },
);

type Script = ReturnType<typeof script.generate>['value'];

async function build(steps: Script): Promise<string> {
  const record = openRecord(temporaryHome());
  // A log seals when it closes; a script's "seal" closes one and opens another, and the last ones are left as a SIGKILL leaves them.
  const logs = ['org', 'org', 'other'].map((organization) => ({ organization, log: record.log() }));
  const all = [
    { step: 'add' as const, log: 0, data: 'first' },
    { step: 'add' as const, log: 0, data: 'second' },
    { step: 'seal' as const, log: 0 },
    { step: 'add' as const, log: 1, data: 'third' },
    { step: 'seal' as const, log: 1 },
    // Part of a chain leaves, and later the rest of it with others.
    { step: 'archive' as const, log: 0, keep: 600 },
    { step: 'archive' as const, log: 0, keep: 300 },
    ...steps,
  ];
  for (const step of all) {
    const entry = logs[step.log];
    if (entry === undefined) continue;
    const retention = { age: 1_000_000_000_000_000, bytes: step.step === 'archive' ? step.keep : 0 };
    if (step.step === 'archive') await archiveNow({ store: record.store, home: record.home, clock: systemClock, retention });
    else if (step.step === 'add') await entry.log.record(event({ value: step.data }, { organization: entry.organization }));
    else {
      await entry.log.close();
      entry.log = record.log();
    }
  }
  await record.store.close();
  return record.home;
}

interface Spoil {
  readonly name: string;
  /** Changes one thing; false when there was nothing of the kind to change. */
  apply(home: string, pick: number): boolean;
}

type Place = { chain: string; seq: number; bytes: string };

const inDatabase = (name: string, change: (db: ReturnType<typeof raw>, pick: number) => number | bigint): Spoil => ({
  name,
  apply(home, pick) {
    const db = raw(home);
    try {
      return Number(change(db, pick)) > 0;
    } finally {
      db.close();
    }
  },
});

function rowAt(db: ReturnType<typeof raw>, pick: number, where = 'true'): Place | undefined {
  const rows = db.prepare(`SELECT chain, seq, bytes FROM audit_events WHERE ${where} ORDER BY chain, seq`).all() as unknown as Place[];
  return rows[pick % rows.length];
}

const onRow = (name: string, sql: string, where?: string): Spoil =>
  inDatabase(name, (db, pick) => {
    const row = rowAt(db, pick, where);
    if (row === undefined) return 0;
    return db.prepare(sql).run({ ':chain': row.chain, ':seq': row.seq }).changes;
  });

const onCheckpoint = (name: string, sql: string): Spoil =>
  inDatabase(name, (db, pick) => {
    const rows = db.prepare('SELECT organization, seq FROM audit_checkpoints ORDER BY 1, 2').all() as {
      organization: string;
      seq: number;
    }[];
    const row = rows[pick % rows.length];
    return row === undefined ? 0 : db.prepare(sql).run({ ':organization': row.organization, ':seq': row.seq }).changes;
  });

const onChain = (name: string, sql: string): Spoil =>
  inDatabase(name, (db, pick) => {
    const rows = db.prepare('SELECT chain FROM audit_chains ORDER BY 1').all() as { chain: string }[];
    const row = rows[pick % rows.length];
    return row === undefined ? 0 : db.prepare(sql).run({ ':chain': row.chain }).changes;
  });

const here = 'chain = :chain AND seq = :seq';
const file = (home: string): string => join(home, 'audit', 'checkpoints.jsonl');

const inFile = (name: string, change: (lines: string[], pick: number) => string[] | undefined): Spoil => ({
  name,
  apply(home, pick) {
    const before = readFileSync(file(home), 'utf8');
    const after = change(before.split('\n').slice(0, -1), pick)
      ?.map((line) => `${line}\n`)
      .join('');
    if (after === undefined || after === before) return false;
    writeFileSync(file(home), after);
    return true;
  },
});

const flipByte = (name: string, path: (home: string) => string): Spoil => ({
  name,
  apply(home, pick) {
    const bytes = readFileSync(path(home));
    if (bytes.length === 0) return false;
    const at = pick % bytes.length;
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (pick % 8));
    writeFileSync(path(home), bytes);
    return true;
  },
});

/** The stored bytes of a row inside the database file: what an editor of the file would change. */
const flipRowByte: Spoil = {
  name: 'a bit of a row in the database file',
  apply(home, pick) {
    const db = raw(home);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const row = rowAt(db, pick);
    db.close();
    const bytes = readFileSync(databaseFile(home));
    if (row === undefined) return false;
    const shift = pick % Buffer.byteLength(row.bytes);
    // A page that was split keeps stale copies in its free space; only the live one counts, so all are changed.
    for (let start = bytes.indexOf(row.bytes); start !== -1; start = bytes.indexOf(row.bytes, start + 1)) {
      bytes[start + shift] = (bytes[start + shift] ?? 0) ^ (1 << (pick % 8));
    }
    writeFileSync(databaseFile(home), bytes);
    return true;
  },
};

const archiveFiles = (home: string): string[] =>
  readdirSync(join(home, 'audit', 'archive')).map((name) => join(home, 'audit', 'archive', name));

const inArchive = (name: string, change: (rows: StoredRow[], pick: number) => StoredRow[] | undefined): Spoil => ({
  name,
  apply(home, pick) {
    const all = archiveFiles(home);
    const path = all[pick % all.length] ?? '';
    const rows = unpackRows(readFileSync(path)) ?? [];
    const changed = change(rows, pick);
    if (changed === undefined) return false;
    writeFileSync(path, packRows(changed));
    return true;
  },
});

const onArchive = (name: string, sql: string): Spoil =>
  inDatabase(name, (db, pick) => {
    const rows = db.prepare('SELECT seq FROM audit_archives ORDER BY 1').all() as { seq: number }[];
    const row = rows[pick % rows.length];
    return row === undefined ? 0 : db.prepare(sql).run({ ':seq': row.seq }).changes;
  });

const ARCHIVE_SPOILS: readonly Spoil[] = [
  {
    name: 'a bit of an archive file',
    apply(home, pick) {
      const all = archiveFiles(home);
      return flipByte('', () => all[pick % all.length] ?? '').apply(home, pick);
    },
  },
  {
    name: 'the end of an archive file cut off',
    apply(home, pick) {
      const all = archiveFiles(home);
      const path = all[pick % all.length] ?? '';
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.subarray(0, pick % bytes.length));
      return true;
    },
  },
  {
    name: 'two archive files swapped',
    apply(home) {
      const [a = '', b = ''] = archiveFiles(home);
      const [first, second] = [readFileSync(a), readFileSync(b)];
      writeFileSync(a, second);
      writeFileSync(b, first);
      return true;
    },
  },
  {
    name: 'a folder where an archive was',
    apply(home, pick) {
      const all = archiveFiles(home);
      const path = all[pick % all.length] ?? '';
      rmSync(path);
      mkdirSync(path);
      return true;
    },
  },
  inArchive('an archived row dropped', (rows, pick) => rows.toSpliced(pick % rows.length, 1)),
  inArchive('an archived row doubled', (rows, pick) => rows.flatMap((row, index) => (index === pick % rows.length ? [row, row] : [row]))),
  inArchive('an archived row changed', (rows, pick) =>
    rows.map((row, index) => (index === pick % rows.length ? { ...row, bytes: row.bytes.replace('"at":1', '"at":2') } : row)),
  ),
  inArchive('archived rows reordered', (rows) => (rows.length < 2 ? undefined : rows.toReversed())),
  inArchive('a row of a foreign chain in an archive', (rows) =>
    rows.concat(rows.slice(0, 1).map((row) => ({ ...row, chain: 'constructor' }))),
  ),
  onArchive('the head of an archive dropped', 'DELETE FROM audit_archives WHERE seq = :seq'),
  onArchive(
    'the head of an archive doubled',
    'INSERT INTO audit_archives SELECT (SELECT max(seq) + 1 FROM audit_archives), line FROM audit_archives WHERE seq = :seq',
  ),
  onArchive('the number of an archive', 'UPDATE audit_archives SET seq = seq + 1000 WHERE seq = :seq'),
  onArchive(
    'the count in the head of an archive',
    "UPDATE audit_archives SET line = json_set(line, '$.rows', json_extract(line, '$.rows') + 1) WHERE seq = :seq",
  ),
  onArchive(
    'the digest in the head of an archive',
    "UPDATE audit_archives SET line = json_set(line, '$.sha256', hex(zeroblob(32))) WHERE seq = :seq",
  ),
  onArchive(
    'a path in the head of an archive',
    "UPDATE audit_archives SET line = json_set(line, '$.file', '../../key.pem') WHERE seq = :seq",
  ),
  onArchive('the signature of an archive', "UPDATE audit_archives SET line = json_set(line, '$.sig', 'AAAA') WHERE seq = :seq"),
  onChain('the noted start of a chain', 'UPDATE audit_chains SET first_seq = first_seq + 1 WHERE chain = :chain'),
  onChain('the noted hash before a chain', 'UPDATE audit_chains SET first_hash = randomblob(32) WHERE chain = :chain'),
  onChain('the noted size of a chain', 'UPDATE audit_chains SET size = size + 1 WHERE chain = :chain'),
  onRow(
    'a row dropped and noted as archived',
    'DELETE FROM audit_events WHERE chain = :chain AND seq <= :seq',
    'seq = (SELECT first_seq FROM audit_chains c WHERE c.chain = audit_events.chain)',
  ),
  inDatabase('archived rows put back', (db) => {
    const chain = db.prepare('SELECT chain, first_seq FROM audit_chains WHERE first_seq > 0').get();
    if (chain === undefined) return 0;
    return db
      .prepare("INSERT INTO audit_events (chain, seq, bytes, hash) VALUES (?, ?, '{}', zeroblob(32))")
      .run(chain['chain'] ?? '', Number(chain['first_seq']) - 1).changes;
  }),
];

const SPOILS: readonly Spoil[] = [
  ...ARCHIVE_SPOILS,
  flipRowByte,
  onRow('the time of a row', `UPDATE audit_events SET bytes = json_set(bytes, '$.at', json_extract(bytes, '$.at') + 1) WHERE ${here}`),
  onRow('white space in a row', `UPDATE audit_events SET bytes = bytes || ' ' WHERE ${here}`),
  onRow('the hash of a row', `UPDATE audit_events SET hash = randomblob(32) WHERE ${here}`),
  onRow('a hash made longer', `UPDATE audit_events SET hash = CAST(hash || x'00' AS BLOB) WHERE ${here}`),
  onRow('a row dropped', `DELETE FROM audit_events WHERE ${here}`),
  onRow(
    'the last row of a chain dropped',
    `DELETE FROM audit_events WHERE ${here}`,
    'seq = (SELECT head_seq FROM audit_chains c WHERE c.chain = audit_events.chain)',
  ),
  onRow('the first row of a chain dropped', `DELETE FROM audit_events WHERE ${here}`, 'seq = 0'),
  onRow(
    'a row doubled at the end',
    'INSERT INTO audit_events (chain, seq, bytes, hash) SELECT chain, (SELECT max(seq) + 1 FROM audit_events WHERE chain = :chain), bytes, hash FROM audit_events WHERE chain = :chain AND seq = :seq',
  ),
  onRow(
    'a row copied into another chain',
    "INSERT INTO audit_events (chain, seq, bytes, hash) SELECT 'chn_00000000000000000000zz', seq, bytes, hash FROM audit_events WHERE chain = :chain AND seq = :seq",
  ),
  inDatabase('a row doubled in the middle', (db, pick) => {
    const row = rowAt(db, pick);
    if (row === undefined) return 0;
    db.prepare('UPDATE audit_events SET seq = -seq - 2 WHERE chain = ? AND seq > ?').run(row.chain, row.seq);
    db.prepare('UPDATE audit_events SET seq = -seq - 1 WHERE chain = ? AND seq < -1').run(row.chain);
    return db
      .prepare(
        'INSERT INTO audit_events (chain, seq, bytes, hash) SELECT chain, seq + 1, bytes, hash FROM audit_events WHERE chain = ? AND seq = ?',
      )
      .run(row.chain, row.seq).changes;
  }),
  inDatabase('a row cut out and the gap closed', (db, pick) => {
    const row = rowAt(db, pick, 'seq > 0');
    if (row === undefined) return 0;
    const { changes } = db.prepare('DELETE FROM audit_events WHERE chain = ? AND seq = ?').run(row.chain, row.seq);
    db.prepare('UPDATE audit_events SET seq = -seq WHERE chain = ? AND seq > ?').run(row.chain, row.seq);
    db.prepare('UPDATE audit_events SET seq = -seq - 1 WHERE chain = ? AND seq < 0').run(row.chain);
    return changes;
  }),
  inDatabase('two rows swapped', (db, pick) => {
    const row = rowAt(db, pick, 'seq > 0');
    if (row === undefined) return 0;
    db.prepare('UPDATE audit_events SET seq = -1 WHERE chain = ? AND seq = ?').run(row.chain, row.seq);
    db.prepare('UPDATE audit_events SET seq = ? WHERE chain = ? AND seq = ?').run(row.seq, row.chain, row.seq - 1);
    return db.prepare('UPDATE audit_events SET seq = ? WHERE chain = ? AND seq = -1').run(row.seq - 1, row.chain).changes;
  }),
  inDatabase('a chain gone with all its rows, though it was sealed', (db, pick) => {
    const rows = db.prepare('SELECT chain FROM audit_chains WHERE sealed_seq >= 0 ORDER BY 1').all() as { chain: string }[];
    const chain = rows[pick % rows.length]?.chain ?? '';
    db.prepare('DELETE FROM audit_events WHERE chain = ?').run(chain);
    return db.prepare('DELETE FROM audit_chains WHERE chain = ?').run(chain).changes;
  }),
  onChain('a chain taken off the list', 'DELETE FROM audit_chains WHERE chain = :chain'),
  onChain('the noted end of a chain', 'UPDATE audit_chains SET head_seq = head_seq + 1 WHERE chain = :chain'),
  onChain('the noted hash of a chain', 'UPDATE audit_chains SET head_hash = randomblob(32) WHERE chain = :chain'),
  onChain('the noted seal of a chain', 'UPDATE audit_chains SET sealed_seq = sealed_seq - 1 WHERE chain = :chain'),
  onChain('the Organization of a chain', "UPDATE audit_chains SET organization = organization || 'x' WHERE chain = :chain"),
  onChain('the name of a chain in the list', "UPDATE audit_chains SET chain = chain || 'x' WHERE chain = :chain"),
  onChain('the name of a chain in its rows', "UPDATE audit_events SET chain = chain || 'x' WHERE chain = :chain"),
  onCheckpoint('a checkpoint dropped from the database', 'DELETE FROM audit_checkpoints WHERE organization = :organization AND seq = :seq'),
  onCheckpoint(
    'a checkpoint doubled in the database',
    'INSERT INTO audit_checkpoints SELECT organization, (SELECT max(seq) + 1 FROM audit_checkpoints WHERE organization = :organization), line, filed FROM audit_checkpoints WHERE organization = :organization AND seq = :seq',
  ),
  onCheckpoint(
    'the count in a checkpoint',
    "UPDATE audit_checkpoints SET line = json_set(line, '$.rows', json_extract(line, '$.rows') + 1) WHERE organization = :organization AND seq = :seq",
  ),
  onCheckpoint(
    'the signature of a checkpoint',
    "UPDATE audit_checkpoints SET line = json_set(line, '$.sig', 'AAAA') WHERE organization = :organization AND seq = :seq",
  ),
  flipByte('a bit of checkpoints.jsonl', file),
  {
    name: 'another signing key',
    apply(home) {
      writeFileSync(join(home, 'audit', 'key.pem'), generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
      return true;
    },
  },
  {
    name: 'a signing key that is none',
    apply(home) {
      writeFileSync(join(home, 'audit', 'key.pem'), 'no key');
      return true;
    },
  },
  inFile('a line of checkpoints.jsonl dropped', (lines, pick) => lines.toSpliced(pick % lines.length, 1)),
  inFile('a line of checkpoints.jsonl doubled', (lines, pick) => lines.toSpliced(pick % lines.length, 0, lines[pick % lines.length] ?? '')),
  inFile('a line of checkpoints.jsonl doubled at the end', (lines, pick) => [...lines, lines[pick % lines.length] ?? '']),
  inFile('an empty line in checkpoints.jsonl', (lines, pick) => lines.toSpliced(pick % lines.length, 0, '')),
  inFile('two lines of one Organization swapped', (lines) => {
    const own = lines.flatMap((line, index) => (line.includes('"organization":"org"') ? [index] : []));
    const [a, b] = own;
    if (a === undefined || b === undefined) return undefined;
    return lines.map((line, index) => (index === a ? lines[b] : index === b ? lines[a] : line) ?? '');
  }),
  {
    name: 'the end of checkpoints.jsonl cut off',
    apply(home, pick) {
      const text = readFileSync(file(home), 'utf8');
      writeFileSync(file(home), text.slice(0, text.length - 1 - (pick % (text.length - 1))));
      return true;
    },
  },
  {
    name: 'checkpoints.jsonl removed',
    apply(home) {
      rmSync(file(home));
      return true;
    },
  },
  {
    name: 'the signing key removed',
    apply(home) {
      rmSync(join(home, 'audit', 'key.pem'));
      return true;
    },
  },
  inDatabase('an index dropped', (db) => {
    db.exec('DROP INDEX audit_events_by_action');
    return 1;
  }),
  inDatabase('a trigger added', (db) => {
    db.exec('CREATE TRIGGER quiet BEFORE INSERT ON audit_events BEGIN SELECT raise(IGNORE); END');
    return 1;
  }),
];

describe('any one change to a random record is found', () => {
  const homes: string[] = [];

  beforeAll(async () => {
    for (const steps of fc.sample(script, 4)) homes.push(await build(steps));
    for (const home of homes) {
      const report = await verifyAudit(home);
      expect(report).toMatchObject({ ok: true, findings_total: 0 });
      expect(report.archives.total).toBeGreaterThanOrEqual(2);
    }
  });

  afterAll(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  });

  it.each(SPOILS)('$name', async ({ apply }) => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(3), fc.nat(1_000_000), async (which, pick) => {
        const home = copyOf(homes[which] ?? '');
        try {
          if (!apply(home, pick)) return;
          applied += 1;
          expect(await seen(home)).toBe(true);
        } finally {
          rmSync(home, { recursive: true, force: true });
        }
      }),
      { numRuns: 4 },
    );
    expect(applied).toBeGreaterThan(0);
  });
});

/** Found: the report says so, or the database can't even be read and the error says why. */
async function seen(home: string): Promise<boolean> {
  try {
    return !(await verifyAudit(home)).ok;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'store_unavailable' });
    return true;
  }
}

describe('the first bad row is named', () => {
  let home = '';
  let chain = '';

  beforeAll(async () => {
    const record = openRecord();
    home = record.home;
    const log = record.log();
    for (let i = 0; i < 20; i++) ({ chain } = await log.record(event({ i })));
    await log.close();
    await record.store.close();
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const cases: [string, string, FindingKind, number, number][] = [
    ['changed', `UPDATE audit_events SET bytes = json_set(bytes, '$.data.i', 99) WHERE seq IN (7, 12)`, 'row_changed', 7, 2],
    ['missing', 'DELETE FROM audit_events WHERE seq BETWEEN 5 AND 6', 'row_missing', 5, 1],
    [
      'added',
      'INSERT INTO audit_events (chain, seq, bytes, hash) SELECT chain, 21, bytes, hash FROM audit_events WHERE seq = 3',
      'row_changed',
      21,
      2,
    ],
    ['last missing', 'DELETE FROM audit_events WHERE seq = 20', 'row_missing', 20, 2],
  ];

  it.each(cases)('%s', async (_name, sql, kind, seq, total) => {
    const copy = copyOf(home);
    const db = raw(copy);
    db.exec(sql);
    db.close();
    const report = await verifyAudit(copy);
    expect({ first: report.first, total: report.findings_total }).toMatchObject({ first: { kind, chain, seq }, total });
    rmSync(copy, { recursive: true, force: true });
  });
});
