import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent, AuditLog } from '../../src/audit/types.ts';
import { findChromium } from '../../src/execution/browser/find-chromium.ts';
import { makeWorld, type World } from '../../src/execution/network/testing.ts';
import { listPids } from '../../src/execution/running/proc.ts';
import { markerOf } from '../../src/execution/running/sweep.ts';
import type { JobRecord, Owner } from '../../src/execution/types.ts';
import { createGate } from '../../src/gate/index.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { AppError, toAppError } from '../../src/kernel/errors.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import { decide } from '../../src/policy/index.ts';
import type { Decision } from '../../src/policy/types.ts';
import { type Browsing, createBrowsers, createBrowserTool } from '../../src/tools/browser/index.ts';
import type { CallContext, ToolOutput } from '../../src/tools/tool.ts';

/** Undefined: the tests that need one are skipped by name. */
export const CHROMIUM = findChromium();

export interface BrowserPlace {
  readonly world: World;
  readonly browsing: Browsing;
  /** What servers were asked, as `host path`. */
  readonly asked: string[];
  /** Answers for this name (at port 80 unless one is named), and with a job's port on 127.0.0.1 too. */
  serve(name: string, listener: RequestListener): Promise<number>;
  /** A port of a job of this agent. */
  publish(port: number): void;
  unpublish(port: number): void;
  readonly allowHosts: string[];
  call(
    args: Record<string, unknown>,
    more?: { run?: string; agent?: string; signal?: AbortSignal; opens?: Decision['opens']; meanwhile?: () => Promise<unknown> },
  ): Promise<Called>;
  /** The same call through a gate where everything that is asked is allowed, and what its audit holds of it. */
  attack(args: Record<string, unknown>): Promise<{ readonly answer: GateAnswer; readonly events: readonly AuditEvent[] }>;
  /** Ends what bubblewrap has started, from outside. */
  killBrowser(): void;
  end(): Promise<void>;
}

export interface Called {
  /** Before anybody was asked; undefined where it was refused before. */
  readonly decision?: Decision;
  readonly output?: ToolOutput;
  readonly error?: AppError;
  /** The page as the answer has it. */
  text(): string;
  events(): readonly string[];
}

interface Untrusted {
  readonly text: string;
  readonly events: readonly string[];
}

/** A browser over servers of the test, in a world where only its names exist. A yes is given to whatever is asked. */
export function makeBrowserPlace(
  more: { fetch?: true; times?: { action_ms?: number; idle_ms?: number }; addresses?: Readonly<Record<string, readonly string[]>> } = {},
): BrowserPlace {
  const home = mkdtempSync(join(tmpdir(), 'writ-browser-'));
  const world = makeWorld(more.addresses);
  const servers: Server[] = [];
  const asked: string[] = [];
  const ports = new Set<number>();
  const allowHosts: string[] = [];
  const browsing = createBrowsers(
    {
      home,
      bwrap_candidates: ['/usr/bin/bwrap'],
      ...(more.fetch ? { chromium_candidates: [] } : {}),
      reader: new URL('../../src/main/page-reader.ts', import.meta.url),
      clock: systemClock,
      logger: silentLogger,
    },
    { makeGuard: world.makeGuard, ...(more.times ? { times: more.times } : {}) },
  );
  const job = (port: number): Partial<JobRecord> => ({ state: 'running', ports: [port] });
  const list = async ({ agent }: { agent?: string }): Promise<readonly JobRecord[]> =>
    (agent === 'agent_one' ? [...ports].map(job) : []) as readonly JobRecord[];
  const tool = createBrowserTool({ execution: { jobs: { list } as never }, browsing, allowHosts: () => allowHosts });

  return {
    world,
    browsing,
    asked,
    allowHosts,
    async serve(name, listener) {
      const server = createServer((request: IncomingMessage, response) => {
        asked.push(`${request.headers.host} ${request.url}`);
        listener(request, response);
      });
      servers.push(server);
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const { port } = server.address() as AddressInfo;
      world.places.set(name.includes(':') ? name : `${name}:80`, port);
      world.places.set(`127.0.0.1:${port}`, port);
      return port;
    },
    publish: (port) => void ports.add(port),
    unpublish: (port) => void ports.delete(port),
    async call(args, { run = 'run_one', agent = 'agent_one', signal = new AbortController().signal, opens, meanwhile } = {}) {
      const owner: Owner = { organization: 'org', agent, run, workspace: '/w' };
      const context: CallContext = {
        owner,
        toolset: 'default',
        action: 'act',
        workspaces: [],
        signal,
        progress: () => {},
        whenRecorded: () => {},
      };
      const parsed = tool.parse(args);
      if (!parsed.ok) return called({ error: new AppError('invalid_arguments', parsed.problem) });
      const assessment = await tool.assess(parsed.input, context);
      if (assessment instanceof AppError) return called({ error: assessment });
      const decision = decide(assessment, { classes: {}, deny: [], prompt: [], allow: [] });
      await meanwhile?.();
      try {
        const output = await tool.run(parsed.input, context, opens === undefined ? decision : { ...decision, opens });
        return called({ decision, output });
      } catch (thrown) {
        return called({ decision, error: toAppError(thrown) });
      }
    },
    async attack(args) {
      const events: AuditEvent[] = [];
      const log: AuditLog = {
        record: async (event) => ({ chain: 'chn', seq: events.push(event) }),
        enqueue: (event) => void events.push(event),
        flush: async () => {},
        close: async () => {},
      };
      const gate = createGate({
        tools: [tool],
        allows: () => true,
        policyOf: () => ({ rules: { classes: {}, deny: [], prompt: [], allow: [] }, nonInteractive: 'allow' }),
        audit: async () => log,
        redactor: createRedactor(),
        clock: systemClock,
        logger: silentLogger,
      });
      const owner: Owner = { organization: 'org', agent: 'agent_one', run: 'run_one', workspace: '/w' };
      const answer = await gate.call({
        tool: 'browser',
        arguments: args,
        owner,
        workspaces: [{ path: '/w', access: 'write' }],
        toolset: 'default',
        signal: new AbortController().signal,
        progress: () => {},
      });
      return { answer, events };
    },
    killBrowser() {
      const [record] = readdirSync(join(home, 'browsers')).filter((name) => name.endsWith('.json'));
      const marker = record?.replace('.json', '');
      const pid = (listPids() ?? []).find((one) => markerOf(one) === marker);
      if (pid === undefined) throw new Error('no browser is running');
      process.kill(pid, 'SIGKILL');
    },
    async end() {
      await browsing.end();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function called(result: Pick<Called, 'decision' | 'output' | 'error'>): Called {
  const page = (): Untrusted => {
    if (result.output === undefined) throw result.error ?? new Error('no output');
    return result.output.structured['untrusted'] as Untrusted;
  };
  return { ...result, text: () => page().text, events: () => page().events };
}

/** A document with an icon of its own, so that none is asked for. */
export function html(body: string, title = 'A page'): string {
  return `<!doctype html><html><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;
}

/** Answers by path; anything else is 404. */
export function pages(table: Readonly<Record<string, string>>): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const body = table[path];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(body ?? html('nothing here'));
  };
}

/** The reference of the element whose line in a snapshot has these words. */
export function refOf(text: string, words: string): string {
  const line = text.split('\n').find((one) => one.includes(words) && one.includes('[ref='));
  const ref = /\[ref=([^\]]+)\]/.exec(line ?? '')?.[1];
  if (ref === undefined) throw new Error(`no element "${words}" in:\n${text}`);
  return ref;
}
