/** "Writ" in ASCII, in the file header: tells our database from any other SQLite file. */
export const APPLICATION_ID = 0x57726974;

/**
 * The schema as a list of steps; a database's `user_version` is the number of steps it has had. A step that was released is never
 * edited: add one. Written as SQL because computed columns and partial indexes are clearer in it than in a builder.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE audit_chains (
      chain TEXT NOT NULL PRIMARY KEY,
      organization TEXT NOT NULL,
      head_seq INTEGER NOT NULL,
      head_hash BLOB NOT NULL,
      sealed_seq INTEGER NOT NULL DEFAULT -1
    ) STRICT`,
    `CREATE TABLE audit_events (
      chain TEXT NOT NULL,
      seq INTEGER NOT NULL,
      bytes TEXT NOT NULL,
      hash BLOB NOT NULL,
      at INTEGER GENERATED ALWAYS AS (json_extract(bytes, '$.at')) VIRTUAL,
      type TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.type')) VIRTUAL,
      organization TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.organization')) VIRTUAL,
      agent TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.agent')) VIRTUAL,
      run TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.run')) VIRTUAL,
      workspace TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.workspace')) VIRTUAL,
      action TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.action')) VIRTUAL,
      tool TEXT GENERATED ALWAYS AS (json_extract(bytes, '$.tool')) VIRTUAL,
      PRIMARY KEY (chain, seq)
    ) STRICT`,
    'CREATE INDEX audit_events_by_time ON audit_events (at, chain, seq)',
    'CREATE INDEX audit_events_by_action ON audit_events (action) WHERE action IS NOT NULL',
    `CREATE TABLE audit_checkpoints (
      organization TEXT NOT NULL,
      seq INTEGER NOT NULL,
      line TEXT NOT NULL,
      filed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (organization, seq)
    ) STRICT`,
  ],
  [
    'ALTER TABLE audit_chains ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE audit_chains ADD COLUMN first_hash BLOB NOT NULL DEFAULT (zeroblob(32))',
    'ALTER TABLE audit_chains ADD COLUMN size INTEGER NOT NULL DEFAULT 0',
    'UPDATE audit_chains SET size = (SELECT coalesce(sum(octet_length(bytes)), 0) FROM audit_events e WHERE e.chain = audit_chains.chain)',
    `CREATE TABLE audit_archives (
      seq INTEGER NOT NULL PRIMARY KEY,
      line TEXT NOT NULL
    ) STRICT`,
  ],
  [
    `CREATE TABLE approvals (
      id TEXT NOT NULL PRIMARY KEY,
      state TEXT NOT NULL,
      digest TEXT NOT NULL,
      organization TEXT NOT NULL,
      agent TEXT NOT NULL,
      run TEXT NOT NULL,
      workspace TEXT NOT NULL,
      card TEXT NOT NULL,
      offered TEXT NOT NULL,
      asked_by TEXT NOT NULL,
      boot TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      created_up INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      decided_at INTEGER,
      decided_up INTEGER,
      decided_by TEXT,
      note TEXT,
      opens TEXT,
      taken INTEGER NOT NULL DEFAULT 0
    ) STRICT`,
    'CREATE INDEX approvals_by_digest ON approvals (digest)',
    'CREATE INDEX approvals_by_time ON approvals (created_at)',
    "CREATE INDEX approvals_open ON approvals (state) WHERE state IN ('pending', 'approved')",
    'CREATE TABLE approvals_used (id TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, used_at INTEGER NOT NULL) STRICT',
    'CREATE TABLE approval_callers (approval TEXT NOT NULL, caller TEXT NOT NULL, PRIMARY KEY (approval, caller)) STRICT',
    'CREATE TABLE approval_channels (id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, until INTEGER NOT NULL) STRICT',
    `CREATE TABLE grants (
      id TEXT NOT NULL PRIMARY KEY,
      organization TEXT NOT NULL,
      agent TEXT NOT NULL,
      workspace TEXT NOT NULL,
      scope TEXT NOT NULL,
      opens TEXT NOT NULL,
      approval TEXT NOT NULL,
      made_at INTEGER NOT NULL,
      made_by TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      ended_at INTEGER,
      ended_by TEXT
    ) STRICT`,
    'CREATE TABLE run_origins (run TEXT NOT NULL, origin TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (run, origin)) STRICT',
  ],
  [
    `CREATE TABLE workspaces (
      name TEXT NOT NULL PRIMARY KEY,
      path TEXT NOT NULL UNIQUE,
      added_at INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE agent_tokens (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      workspaces TEXT NOT NULL,
      toolset TEXT NOT NULL,
      attended INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      used_at INTEGER
    ) STRICT`,
    'CREATE UNIQUE INDEX agent_tokens_in_force ON agent_tokens (name) WHERE revoked_at IS NULL',
    `CREATE TABLE agent_runs (
      agent TEXT NOT NULL,
      workspace TEXT NOT NULL,
      run TEXT NOT NULL,
      used_at INTEGER NOT NULL,
      PRIMARY KEY (agent, workspace)
    ) STRICT`,
    `CREATE TABLE operator_links (
      hash BLOB NOT NULL PRIMARY KEY,
      expires_at INTEGER NOT NULL
    ) STRICT`,
  ],
];

export const SCHEMA_VERSION = MIGRATIONS.length;
