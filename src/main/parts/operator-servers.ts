import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../../audit/index.ts';
import type { Settings, UpstreamsPort } from '../../cli/index.ts';
import type { Changed, OperatorServers } from '../../http/index.ts';
import { canonicalJson } from '../../kernel/canonical-json.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Entry } from '../../kernel/config/edit-servers.ts';
import { type Config, loadConfig, type ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import {
  addServer,
  changeServer,
  holdsMask,
  keyOf,
  patched,
  removeServer,
  sealed,
  switched,
  type UpstreamKey,
  type UpstreamSettings,
  withDisabledTools,
} from '../../upstreams/index.ts';
import type { Gateway } from './gateway.ts';
import type { LiveUpstreams } from './live-upstreams.ts';
import { callbackAt } from './login-base.ts';
import { detailOf, type RowsPort, rowOf, rowOfProject } from './server-rows.ts';
import { createTurns } from './turns.ts';

export interface OperatorServersParts {
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly flags?: Settings | undefined;
  /** As it was at the start. */
  readonly config: Config;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly live: LiveUpstreams;
  /** Where browsers come back to from a login. */
  readonly base: string;
  gateway(): Promise<Gateway>;
  audit(): Promise<AuditLog>;
  /** The servers of a configuration, as commands have them. */
  openPort(gateway: Gateway, config: Config): Promise<UpstreamsPort>;
}

type Port = RowsPort & Pick<UpstreamsPort, 'secrets' | 'operator' | 'check' | 'look' | 'write' | 'install' | 'uninstall'>;

/** How long an answer waits for what was written to hold; it does so half a second later, most of the time. */
const FOLLOWED_MS = 3_000;
const LOOK_MS = 50;
const LOGIN_MS = 30_000;
/** Changes that wait for each other; one more is busy. */
const MOST_WAITING = 16;

/** The MCP servers of this `writ up` for its operator: what the configuration says now, and how they are. */
export function createOperatorServers(parts: OperatorServersParts): OperatorServers {
  const { facts, home, flags = [], live, redactor } = parts;
  const inTurn = createTurns(MOST_WAITING);
  let last = parts.config;

  /** The last good one holds, as for everything else that follows it. */
  async function config(): Promise<{ readonly config: Config; readonly problem?: string }> {
    const loaded = await loadConfig(facts, { home, flags });
    if (!loaded.ok) {
      const [first] = loaded.problems;
      const line = first?.line === undefined ? '' : ` (line ${first.line})`;
      return {
        config: last,
        problem: `The configuration can't be used, so the last good one holds: ${first?.message ?? 'unreadable'}${line}.`,
      };
    }
    last = loaded.config;
    return { config: last };
  }

  const portOf = async (now: Config): Promise<Port> => parts.openPort(await parts.gateway(), now);
  const port = async (): Promise<Port> => portOf((await config()).config);

  function ofOperator({ servers }: Port, name: string): Port['servers'][number] {
    const found = servers.find((each) => each.name === name && each.source === 'operator');
    if (found === undefined) throw notFound(name);
    return found;
  }

  /** Of the operator's file, or of a project whose host is connected. */
  function settingsOf(from: Port, key: UpstreamKey): UpstreamSettings {
    if (key.project !== null) {
      const upstream = live.find(key);
      if (upstream === undefined) throw notFound(key.name);
      return upstream.settings;
    }
    const { read } = ofOperator(from, key.name);
    if (read.ok) return read.settings;
    throw new AppError(
      'invalid_arguments',
      `The entry of "${key.name}" can't be used: ${read.problems.map(({ message }) => message).join('; ')}.`,
    );
  }

  /** Until this process has followed what was written, so that whoever looks next sees it. `settings` absent: it is gone. */
  async function followed(name: string, settings: UpstreamSettings | undefined): Promise<void> {
    // What was written is the last good one now.
    await config();
    if (facts.host_env['WRIT_DISABLE_MCP'] === '1') return;
    const wanted = settings === undefined ? undefined : canonicalJson(settings);
    const until = performance.now() + FOLLOWED_MS;
    const holds = (): boolean => {
      const now = live.all().filter((each) => each.settings.name === name && each.settings.source === 'operator');
      return wanted === undefined ? now.length === 0 : now.some((each) => canonicalJson(each.settings) === wanted);
    };
    while (!holds() && performance.now() < until) await sleep(LOOK_MS);
  }

  /** The answer holds at once, and not only when it is noticed in the file. A server that may start now is started. */
  const judgedAgain = async (key: UpstreamKey): Promise<void> => live.find(key)?.review();

  const shown = <T>(value: T): T => redactor.value(value) as T;

  const changeEntry = (name: string, edit: (entry: Entry) => Entry, secrets: Readonly<Record<string, string>> = {}): Promise<Changed> =>
    inTurn(async () => {
      const from = await port();
      ofOperator(from, name);
      const changed = await changeServer(name, edit, secrets, from);
      if (changed.type === 'invalid') return changed;
      await followed(name, changed.settings);
      return done(changed.written.backup, secrets);
    });

  return {
    async list() {
      const now = await config();
      const from = await portOf(now.config);
      const projects = live.all().filter(({ settings }) => settings.source === 'project');
      const said = now.problem === undefined ? {} : { problem: now.problem };
      const own = await Promise.all(from.servers.map((server) => rowOf(from, server, live)));
      return shown({ servers: [...own, ...projects.map(({ settings }) => rowOfProject(from, settings, live))], ...said });
    },

    async get(key) {
      const from = await port();
      const server = key.project === null ? ofOperator(from, key.name) : undefined;
      const row = server === undefined ? rowOfProject(from, settingsOf(from, key), live) : await rowOf(from, server, live);
      if (row.settings === undefined) return shown({ ...row, tool_list: [], denied: false, login: false });
      const settings = settingsOf(from, key);
      return shown(await detailOf(row, settings, from, live));
    },

    async add({ name, entry, connect, replace }) {
      if (holdsMask(entry)) return { type: 'invalid', problems: [MASKED] };
      const from = await port();
      if (!replace && from.servers.some((each) => each.name === name && each.source === 'operator')) return { type: 'taken' };
      const made = sealed(name, entry);
      const read = from.check(name, made.entry);
      if (!read.ok) return { type: 'invalid', problems: read.problems };
      const added = await addServer({ settings: read.settings, ...made, connect, replace }, from);
      if (added.type === 'written') {
        await followed(name, read.settings);
        return done(added.written.backup, made.secrets);
      }
      const { status, log } = added.looked;
      return shown({ type: 'not_connected', state: status.state, reason: status.reason ?? status.last_error ?? '', log: log.slice(-20) });
    },

    async change(name, patch) {
      if (holdsMask(patch)) return { type: 'invalid', problems: [MASKED] };
      const { entry: given, secrets } = sealed(name, patch);
      return changeEntry(name, (entry) => patched(entry, given), secrets);
    },
    enable: (name, on) => changeEntry(name, (entry) => switched(entry, on)),
    disableTools: (name, tools) => changeEntry(name, (entry) => withDisabledTools(entry, tools)),

    remove: (name) =>
      inTurn(async () => {
        const from = await port();
        ofOperator(from, name);
        const { written, forgotten, secrets_kept } = await removeServer(name, from);
        await followed(name, undefined);
        const { backup } = written;
        return { forgotten, secrets_kept, ...(backup === undefined ? {} : { backup }) };
      }),

    async install(key, options) {
      const from = await port();
      const { type } = await from.install(settingsOf(from, key), options);
      await judgedAgain(key);
      return type === 'installed';
    },
    reconnect: async (key) => void (await live.reconnect(key)),
    async log(key, lines) {
      settingsOf(await port(), key);
      return live.log(key)?.lines().slice(-lines) ?? [];
    },

    async approve(key, sha256) {
      const from = await port();
      const answer = await from.approvals.approveServer(settingsOf(from, key), { sha256, by: from.operator });
      await judgedAgain(key);
      return [answer.ok ? { name: key.name, ok: true } : { name: key.name, ok: false, message: answer.message }];
    },
    async approveTools(key, tools) {
      const from = await port();
      const answered = await from.approvals.approveTools(keyOf(settingsOf(from, key)), tools, from.operator);
      await judgedAgain(key);
      return answered.map(({ name, answer }) => (answer.ok ? { name, ok: true } : { name, ok: false, message: answer.message }));
    },
    async deny(key, tools) {
      const from = await port();
      await from.approvals.deny(settingsOf(from, key), from.operator, tools);
      await judgedAgain(key);
    },
    async revoke(key, tools) {
      const from = await port();
      const forgotten = await from.approvals.revoke(keyOf(settingsOf(from, key)), from.operator, tools);
      await judgedAgain(key);
      return forgotten;
    },

    async authorize(key) {
      const gateway = await parts.gateway();
      const back = callbackAt(parts.base);
      const { authorization_url, expires_at } = await (await gateway.logins()).begin(settingsOf(await port(), key), {
        ...back,
        person: facts.user.name,
        signal: AbortSignal.timeout(LOGIN_MS),
      });
      return { authorization_url, redirect_uri: back.redirect_uri, expires_at };
    },
    async exchange(key, callback_url) {
      const [{ answerLogin }, gateway] = await Promise.all([import('./upstream-login.ts'), parts.gateway()]);
      const settings = settingsOf(await port(), key);
      await answerLogin(settings, callback_url, {
        logins: await gateway.logins(),
        person: facts.user.name,
        record: async () => {
          const log = await parts.audit();
          const data = { server: settings.name, by: facts.user.name };
          const event = { type: 'upstream.login', at: parts.clock.now(), organization: 'org_local', data };
          await log.record(event, { level: 'full', essential: true });
        },
      });
      await judgedAgain(key);
    },
  };
}

const MASKED = {
  message: 'a value is "[redacted]": that is what a list shows in the place of a secret',
  fix: `Leave that key out, or say the value itself or \${secret:NAME}.`,
};

function done(backup: string | undefined, secrets: Readonly<Record<string, string>>): Changed {
  return { type: 'done', secrets: Object.keys(secrets), ...(backup === undefined ? {} : { backup }) };
}

function notFound(name: string): AppError {
  return new AppError('not_found', `There is no MCP server ${JSON.stringify(name.slice(0, 80))} here.`, {
    fix: 'The list has those of the configuration, and those of projects as long as a host works in their folder.',
  });
}
