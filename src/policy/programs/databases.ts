import { networkOf } from '../hosts.ts';
import { isUnknown, type Text } from '../text.ts';
import { onlyAsks } from './database-questions.ts';
import { all } from './define.ts';
import { type OptionTable, optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const LOSS =
  /\b(drop\s+(database|schema|table|index|view|user|role|tablespace|collection|keyspace|owned)|truncate\b|delete\s+from\s+\S+\s*(;|$|\))|flushall|flushdb|dropDatabase|\.drop\s*\(|deleteMany\s*\(\s*\{\s*\}\s*\)|remove\s*\(\s*\{\s*\}\s*\)|alter\s+table\s+\S+\s+drop)/i;

/** Statements are data for a server; meta commands of the client run here. */
export function inspectStatements(call: Call, text: Text): void {
  if (isUnknown(text)) call.report('unknown', 'the statements cannot be known from the text');
  if (LOSS.test(text)) call.report('destructive', 'removes data from a database');
  for (const match of text.matchAll(/(?:^|[\n;'"]|\s)\\!\s*([^\n]*)/g)) call.runsText(match[1] ?? '', `${call.name} runs a shell command`);
  for (const match of text.matchAll(/(?:^|[\n;])\s*system\s+([^\n]+)/gi))
    call.runsText(match[1] ?? '', `${call.name} runs a shell command`);
  for (const match of text.matchAll(/\bprogram\s+'((?:[^']|'')*)'/gi))
    call.runsText((match[1] ?? '').replaceAll("''", "'"), 'a statement starts a program');
  for (const match of text.matchAll(/(?:^|[\n;])\s*\\(?:o|g|w|copy[^\n]*\bto)\s*\|\s*([^\n]*)/g))
    call.runsText(match[1] ?? '', `${call.name} pipes to a command`);
  for (const match of text.matchAll(/(?:^|[\n;])\s*\\(?:o|w)\s+([^|\s][^\n;]*)/g)) call.write((match[1] ?? '').trim());
  for (const match of text.matchAll(/(?:^|[\n;])\s*\.(?:shell|sh|system)\s+([^\n]*)/g))
    call.runsText(match[1] ?? '', `${call.name} runs a shell command`);
  for (const match of text.matchAll(/(?:^|[\n;])\s*\.(?:output|once|save|backup|clone|log|trace)\s+(?:-\w+\s+|main\s+)?(\|?[^\n]*)/g)) {
    const target = (match[1] ?? '').trim().replace(/^(["'])(.*)\1$/s, '$2');
    if (target.startsWith('|')) call.runsText(target.slice(1), `${call.name} pipes to a command`);
    else if (target !== '' && target !== 'stdout') call.write(target);
  }
  for (const match of text.matchAll(/(?:^|[\n;])\s*\.(?:import|read)\s+(?:-\w+\s+)*(?:"([^"\n]*)"|'([^'\n]*)'|(\S+))/g)) {
    const from = match[1] ?? match[2] ?? match[3] ?? '';
    if (from.startsWith('|')) call.runsText(from.slice(1), `${call.name} reads from a command`);
    else call.read(from);
  }
  for (const match of text.matchAll(/\bedit\s*\([^()]*,\s*'((?:[^']|'')*)'\s*\)/gi))
    call.runsText((match[1] ?? '').replaceAll("''", "'"), 'a function of the client starts an editor');
  for (const match of text.matchAll(/\bwritefile\s*\(\s*'([^']*)'/gi)) call.write(match[1] ?? '');
  for (const match of text.matchAll(/\b(?:readfile|read_(?:csv|csv_auto|json|json_auto|parquet|text|blob))\s*\(\s*'([^']*)'/gi))
    call.read(match[1] ?? '');
  if (/(?:^|[\n;])\s*\.load\s|load_extension\s*\(/i.test(text)) call.report('code_execution', 'loads an extension');
  for (const match of text.matchAll(/\binto\s+(?:out|dump)file\s+['"]([^'"]*)['"]/gi)) call.write(match[1] ?? '');
  for (const match of text.matchAll(/\battach\s+(?:database\s+)?['"]([^'"]*)['"]/gi)) call.write(match[1] ?? '');
}

interface Client {
  readonly options: string;
  /** Options whose value is a statement. */
  readonly statements: string;
  /** Options that name the host. */
  readonly hosts: string;
  /** The operands hold statements: `redis-cli flushall`. */
  readonly operands?: boolean;
}

const client = ({ options, statements, hosts, operands }: Client): Program => {
  const table: OptionTable = optionTable(
    `${options} ${statements
      .split(' ')
      .map((name) => `${name}=-`)
      .join(' ')} ${hosts
      .split(' ')
      .map((name) => `${name}=-`)
      .join(' ')}`,
  );
  const stated = new Set(statements.split(' '));
  const named = new Set(hosts.split(' '));
  return (call) => {
    const words = readWords(call.args, table);
    const at: Text[] = [];
    for (const { name, value = '', role } of words.options) {
      if (stated.has(name)) inspectStatements(call, value);
      else if (named.has(name)) at.push(value);
      else if (role === 'r') {
        const known = call.read(value)?.text;
        if (known !== undefined) inspectStatements(call, known);
      } else if (role === 'w') call.write(value);
    }
    const addresses = words.operands.filter((word) => word.includes('://'));
    if (operands) inspectStatements(call, words.operands.join(' '));
    if (call.stdin.text !== undefined) inspectStatements(call, call.stdin.text);
    // A database on the loopback of the host is not the loopback of the run: it needs asking too.
    const { report } = call;
    // `-d postgres://...`, `-d 'host=...'`: another option may name the place.
    const told = words.options.filter(({ name, value = '' }) => !stated.has(name) && /:\/\/|\bhost(addr)?\s*=/.test(value));
    const hostsAt = [...at, ...addresses, ...told.flatMap(({ value = '' }) => (value.includes('://') ? [value] : []))];
    const asked = [...words.options.filter(({ name }) => stated.has(name)).map(({ value = '' }) => value), call.stdin.text ?? ''];
    const files = words.options.some(({ role }) => role !== undefined && role !== '-');
    if (
      atHome(call.name, [...words.operands, ...told.map(({ value = '' }) => value)], hostsAt) &&
      !files &&
      onlyAsks(call.name, operands ? [words.operands.join(' ')] : asked)
    ) {
      // Reaches what the run has for itself, and the ports that the operator has opened to it: to ask opens nothing more.
      report('code_execution', `${call.name} asks a database of this machine`);
      return { origin: 'network' };
    }
    report('network_egress', `${call.name} talks to a database`, {
      opens: { type: 'hosts', hosts: hostsAt.map(plainHost).filter((host) => host !== ''), presets: [] },
    });
    return { origin: 'network' };
  };
};

/** All the places that are named are this machine; redis is looked for there by itself. */
function atHome(name: string, operands: readonly Text[], named: readonly Text[]): boolean {
  const told = operands.flatMap((word) => [...word.matchAll(/\bhost(?:addr)?\s*=\s*([^\s&]+)/g)].map((match) => match[1] ?? ''));
  const places = [...named, ...told].map(plainHost);
  return networkOf(places).local || (places.length === 0 && /^(redis|valkey|keydb)-cli$/.test(name));
}

const plainHost = (word: Text): string =>
  isUnknown(word)
    ? ''
    : word
        .replace(/^[a-z+]+:\/\//i, '')
        .replace(/^[^@]*@/, '')
        .replace(/[:/?].*$/, '');

const sqlite: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable(
      'c=- s=- cmd=- init=r separator=- nullvalue=- newline=- mmap=- vfs=- A=- lookaside=- pagecache=- batch csv json header readonly',
      true,
    ),
  );
  const [file, ...statements] = words.operands;
  const readonly = words.has('readonly');
  if (file !== undefined && file !== ':memory:') {
    call.read(file);
    if (!readonly) call.write(file);
  }
  const init = words.value('init');
  if (init !== undefined) call.read(init);
  for (const { name, value } of words.options) if (/^(cmd|c|s)$/.test(name) && value !== undefined) local(call, value);
  for (const text of statements) local(call, text);
  if (call.stdin.text !== undefined) local(call, call.stdin.text);
  if (call.name === 'duckdb') for (const text of [...words.options.map(({ value = '' }) => value), ...statements]) duck(call, text);
  return undefined;
};

/** What the statements of duckdb do beside those of sqlite: they write and fetch files by themselves. */
function duck(call: Call, text: Text): void {
  for (const match of text.matchAll(/\bcopy\b[^;]*?\bto\s+'([^']*)'|\bexport\s+database\s+'([^']*)'/gi))
    call.write(match[1] ?? match[2] ?? '');
  for (const match of text.matchAll(/\bfrom\s+'([^']*)'/gi)) if (!/^\w+:/.test(match[1] ?? '')) call.read(match[1] ?? '');
  if (/(?:^|;)\s*(force\s+)?install\s/i.test(text))
    call.report('install', 'downloads an extension of duckdb', { opens: { type: 'hosts', hosts: ['extensions.duckdb.org'], presets: [] } });
  const addresses = [...text.matchAll(/'((?:https?|s3|gs|gcs|r2|hf):\/\/[^']*)'/gi)].map((match) => match[1] ?? '');
  if (addresses.length > 0) call.network('duckdb reads or writes over the network', addresses);
}

/** A database in a file of the workspace: losing its rows is losing work, but confined. */
function local(call: Call, text: Text): void {
  if (LOSS.test(text)) call.report('destructive', 'removes data from a database of the workspace', { verdict: 'prompt' });
  inspectStatements(
    {
      ...call,
      report: (effect, reason, more) =>
        effect === 'destructive' && more?.verdict === undefined && /database/.test(reason) ? undefined : call.report(effect, reason, more),
    },
    text,
  );
}

const dump =
  (kind: string): Program =>
  (call) => {
    const words = readWords(
      call.args,
      optionTable('h=- host=- f=w file=w r=w result-file=w U=- u=- p=- port=- d=- dbname=- out=w o=w t=- n=- F=- j=-'),
    );
    const host = words.value('h', 'host');
    call.report('network_egress', `${kind} talks to a database`, {
      opens: { type: 'hosts', hosts: host === undefined ? [] : [plainHost(host)], presets: [] },
    });
    for (const { role, value } of words.options) if (role === 'w' && value !== undefined) call.write(value);
    if (/restore|drop/.test(call.name) || words.has('clean', 'c', 'drop')) call.report('destructive', 'overwrites or removes a database');
    return { origin: 'network' };
  };

export const DATABASES: readonly (readonly [string, Program])[] = [
  [
    'psql',
    client({
      options:
        'f=r file=r o=w output=w L=w log-file=w U=- username=- p=- port=- d=- dbname=- v=- set=- variable=- P=- pset=- F=- R=- T=- A t q X w W 1',
      statements: 'c command',
      hosts: 'h host',
    }),
  ],
  ...all(
    'mysql mariadb mycli',
    client({
      options:
        'u=- user=- p?- password?- P=- port=- D=- database=- S=r socket=r tee=w pager=- init-command=- prompt=- delimiter=- protocol=- ssl-ca=r defaults-file=r B N s t',
      statements: 'e execute',
      hosts: 'h host',
    }),
  ),
  ...all('pgcli', client({ options: 'U=- p=- d=-', statements: 'c', hosts: 'h host' })),
  ...all(
    'mongosh mongo',
    client({ options: 'u=- p=- port=- authenticationDatabase=- f=r file=r', statements: 'eval', hosts: 'host', operands: false }),
  ),
  ...all(
    'redis-cli valkey-cli keydb-cli',
    client({
      options: 'p=- a=- u=- n=- r=- i=- s=- x X=- d=- D=- user=- pass=- pipe rdb=w',
      statements: 'eval',
      hosts: 'h',
      operands: true,
    }),
  ),
  ...all(
    'cqlsh clickhouse-client clickhouse sqlcmd isql tsql bcp influx snowsql trino presto beeline hive impala-shell cypher-shell arangosh couchdb etcdctl memcached-tool kcat kafkacat kafka-topics rabbitmqctl rabbitmqadmin',
    client({ options: 'u=- p=- port=- d=- f=r o=w', statements: 'e q query Q c execute', hosts: 'h host S server H', operands: true }),
  ),
  ...all('sqlite3 sqlite litecli duckdb', sqlite),
  ...all('pg_dump pg_dumpall mysqldump mongodump mongoexport mariadb-dump pg_basebackup', dump('a dump')),
  ...all('pg_restore mongorestore mongoimport mysqlimport', dump('a restore')),
  ...all('dropdb dropuser', (call: Call) => {
    call.report('network_egress', 'talks to a database', { opens: { type: 'hosts', hosts: [], presets: [] } });
    call.report('destructive', 'removes a database or a user');
    return undefined;
  }),
  ...all('createdb createuser pg_isready mysqladmin vacuumdb reindexdb', (call: Call) => {
    const host = readWords(call.args, optionTable('h=- host=- p=- port=- U=- username=- d=- dbname=- t=- timeout=- u=-')).value(
      'h',
      'host',
    );
    if (/^pg_isready$/.test(call.name) && host !== undefined && networkOf([host]).local) return undefined;
    call.report('network_egress', 'talks to a database', { opens: { type: 'hosts', hosts: [], presets: [] } });
    if (call.args.includes('drop') || call.args.includes('shutdown')) call.report('destructive', 'removes or stops a database');
    return undefined;
  }),
];
