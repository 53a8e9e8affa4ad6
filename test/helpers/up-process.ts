import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Place, runWrit, WRIT } from './writ-process.ts';

/** `writ up` on a port of its own. */
export interface UpProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** The one-time link that it printed. */
  readonly link: string;
  stderr(): string;
  readonly exited: Promise<number | null>;
  /** SIGTERM, and the exit code. */
  end(): Promise<number | null>;
}

export async function startUp(place: Place, args: readonly string[] = ['--port', '0'], argv: readonly string[] = WRIT): Promise<UpProcess> {
  const [command = process.execPath, ...base] = argv;
  const child = spawn(command, [...base, 'up', ...args], { cwd: place.workspace, env: place.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).slice(-100_000);
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const told = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('Ctrl-C')) resolve(out);
    });
  });
  const text = await Promise.race([told, exited.then((code) => Promise.reject(new Error(`writ up ended (${code}): ${err}`)))]);
  const url = /up at (\S+)/.exec(text)?.[1];
  const link = /(http\S+\/open#\S+)/.exec(text)?.[1];
  if (url === undefined || link === undefined) throw new Error(`writ up did not say where it is: ${text}`);
  return {
    child,
    url,
    link,
    stderr: () => err,
    exited,
    end() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** A registered Workspace and a token for it; the token itself. */
export async function makeToken(place: Place, name: string, args: readonly string[] = []): Promise<string> {
  const made = await runWrit(place, ['token', 'create', name, ...args]);
  if (made.code !== 0) throw new Error(made.stderr);
  return readFileSync(join(place.home, 'tokens', name), 'utf8').trim();
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** One request with exactly these headers; `fetch` would choose some of them itself. */
export function http(
  url: string,
  options: { method?: string; headers?: Readonly<Record<string, string>>; body?: string } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: options.method ?? 'GET', headers: { connection: 'close', ...options.headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(options.body);
  });
}

export function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  return http(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** One stateless tool call over HTTP. */
export async function callTool(
  endpoint: string,
  token: string,
  name: string,
  args: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer & { tool: () => string }> {
  const answer = await http(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: META } }),
  });
  return { ...answer, tool: () => toolText(answer.text) };
}

/** The text of the tool result, whether it came as JSON or as an event. */
function toolText(text: string): string {
  const json = text.startsWith('{') ? text : (/^data: (\{"jsonrpc".*"id":1.*\})$/m.exec(text)?.[1] ?? '{}');
  const { result } = JSON.parse(json) as { result?: { content?: { text?: string }[] } };
  return (result?.content ?? []).map((part) => part.text ?? '').join('\n');
}

/** The page as a browser has it open: address, cookie, and what its forms carry. */
export interface OpenPage {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly csrf: string;
  readonly cookie: string;
  html(): Promise<string>;
  act(path: string, fields: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  /** Keeps the stream of events open, which is what makes it a live channel. */
  watch(): Promise<{ close(): void }>;
}

export async function openPage(up: Pick<UpProcess, 'url' | 'link'>): Promise<OpenPage> {
  const key = up.link.slice(up.link.indexOf('#') + 1);
  const opened = await postForm(`${up.url}/open`, { key }, { origin: up.url, 'sec-fetch-site': 'same-origin' });
  if (opened.status !== 303) throw new Error(`the link did not open: ${opened.status}`);
  const address = `${up.url}${String(opened.headers['location'])}`;
  const setCookie = String(opened.headers['set-cookie']);
  const headers = { cookie: setCookie.split(';', 1)[0] ?? '', origin: up.url, 'sec-fetch-site': 'same-origin' };
  const html = async (): Promise<string> => (await http(address, { headers })).text;
  const csrf = /name="csrf" value="([^"]+)"/.exec(await html())?.[1] ?? '';
  return {
    address,
    headers,
    csrf,
    cookie: setCookie,
    html,
    act: (path, fields) => postForm(`${address}${path}`, { csrf, ...fields }, headers),
    watch: () =>
      new Promise((resolve, reject) => {
        const sent = request(`${address}events`, { headers }, (response) => {
          response.once('data', () => resolve({ close: () => sent.destroy() }));
          response.on('error', () => {});
        });
        sent.on('error', reject);
        sent.end();
      }),
  };
}
