import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, makeBed } from '../containment/testing.ts';
import type { ContainedRun, Running, SandboxPlan } from '../core-types.ts';
import { createRunning } from '../running/index.ts';
import type { RunResult, RunSpec } from '../types.ts';
import { listen, makeWorld, type World } from './testing.ts';

let bed: Bed;
let world: World;
let origin: HttpServer;
let running: Running;

beforeAll(async () => {
  bed = makeBed();
  world = makeWorld();
  origin = createHttpServer((request, response) => {
    response.end(`answer to ${request.method} ${request.headers.host} ${request.url}`);
  });
  await new Promise<void>((done) => origin.listen(0, '127.0.0.1', done));
  world.places.set('www.example.com:80', portOf(origin));
  world.places.set('www.example.com:443', portOf(origin));
  running = createRunning(bed.config, systemClock, { makeGuard: world.makeGuard });
});
afterAll(async () => {
  await running.close();
  origin.close();
  bed.remove();
});

const portOf = (server: HttpServer): number => (server.address() as { port: number }).port;

const begin = async (command: string, more: Partial<RunSpec> = {}, plan?: SandboxPlan): Promise<ContainedRun> => {
  const spec = bed.spec({ command, ...more });
  const exec_id = newId('exec');
  const folder = bed.folder(`people/dev/.writ/${exec_id}`);
  return running.start({ exec_id, spec, plan: plan ?? (await bed.plan(spec)), folder, durable: false, logger: silentLogger });
};
const run = async (command: string, more: Partial<RunSpec> = {}): Promise<RunResult> =>
  (await begin(command, { network: { hosts: ['www.example.com'], presets: [] }, ...more })).done;
const runPlanned = async (command: string, plan: SandboxPlan): Promise<RunResult> => (await begin(command, {}, plan)).done;
const text = (result: RunResult): string => result.output.combined.head;

async function withServer<T>(serve: Parameters<typeof listen>[0], use: (port: number) => Promise<T>): Promise<T> {
  const server = await listen(serve);
  try {
    return await use(server.port);
  } finally {
    server.close();
  }
}

async function freePort(): Promise<number> {
  return withServer(
    () => undefined,
    async (port) => port,
  );
}

describe('a run with an allow-list', () => {
  it('reaches what is on it by HTTP and SOCKS, and the receipt counts it', async () => {
    const socks = 'echo $SOCKS_PROXY; curl -sS --socks5-hostname 127.0.0.1:17421 http://www.example.com:443/y';
    const result = await run(`curl -sS http://www.example.com/x; echo; ${socks}`);
    expect(text(result)).toBe('answer to GET www.example.com /x\nsocks5h://127.0.0.1:17421\nanswer to GET www.example.com:443 /y');
    expect(result.receipt?.network?.allowed).toMatchObject([
      { host: 'www.example.com', port: 80, connections: 1 },
      { host: 'www.example.com', port: 443, connections: 1 },
    ]);
    expect(result.receipt?.containment.dimensions.network).toMatchObject({ state: 'enforced', by: expect.stringContaining('allow-list') });
    expect(result.receipt?.containment.notes.join()).toContain('network opened for this run: www.example.com');
    expect(result.receipt?.hints).toEqual([]);
    expect(result.receipt?.teardown.verified).toBe(true);
  });

  it('is refused everything else, by name, and told so', async () => {
    const result = await run('curl -sS http://other.example.net/; curl -sS https://other.example.net/; curl -sS http://169.254.169.254/');
    expect(text(result)).toContain('writ: refused other.example.net:80 (not in the allow-list); ask by naming it in the command');
    expect(result.receipt?.hints).toEqual([
      'network: refused other.example.net:80 (not in the allow-list); ask by naming it in the command',
      'network: refused other.example.net:443 (not in the allow-list); ask by naming it in the command',
      'network: refused 169.254.169.254:80 (not in the allow-list); ask by naming it in the command',
    ]);
    expect(result.receipt?.network).toMatchObject({ allowed: [], refused: [{ connections: 1 }, { connections: 1 }, { connections: 1 }] });
  });

  it('has no other way out: no names, no host, no address', async () => {
    await withServer(
      (socket) => socket.end('inside out'),
      async (port) => {
        const tries = [
          `curl -sS --noproxy '*' -m 5 http://127.0.0.1:${port}/`,
          `curl -sS --noproxy '*' -m 5 http://93.184.216.34/`,
          `curl -sS --noproxy '*' -m 5 http://www.example.com/`,
          `curl -sS -m 5 -x http://127.0.0.1:17420 http://127.0.0.1:${port}/`,
          `curl -sS -m 5 -x http://127.0.0.1:17420 http://0x7f000001:${port}/`,
        ];
        const result = await run(tries.join('; '));
        expect(text(result)).not.toContain('inside out');
        expect(text(result)).toMatch(/Could not resolve host: www\.example\.com/);
        expect(result.receipt?.hints.join('\n')).toMatch(/programs that do not use it reach nothing/);
      },
    );
  });

  it('finds nothing of how it was made', async () => {
    const script =
      'for X in /proc/[0-9]*/comm; do cat $X; done; ls /proc/self/fd | wc -w; env | grep -c -e NODE_CHANNEL -e WRIT_; jobs; echo "[$!]"';
    expect(text(await run(script)).split('\n')).toEqual(['bwrap', 'bash', '4', '0', '[]', '']);
  });

  it('runs as any other: exit code, standard input, a megabyte each way', async () => {
    const echo = await run('tee /dev/stderr; exit 7', { stdin: Buffer.from('given') });
    expect(echo.outcome).toEqual({ state: 'exited', exit_code: 7 });
    expect(echo.output.stdout.head).toBe('given');
    const upload = 'head -c 1000000 /dev/zero > z; curl -sS -p -T z http://www.example.com:443/z; ls -l z | cut -d" " -f5';
    const result = await run(upload);
    expect(text(result)).toContain('1000000');
    expect(result.receipt?.network?.allowed[0]?.bytes_sent).toBeGreaterThan(1_000_000);
  });

  it('a word without hosts and a host that is none are said', async () => {
    const result = await run('true', { network: { hosts: ['a b'], presets: ['nonsense'] } });
    expect(result.receipt?.hints).toEqual([
      'network: "a b" was not opened: this is not the name of a host',
      'network: no hosts are known for "nonsense"; name them in the command',
    ]);
  });

  it('several at once have each their own', async () => {
    const results = await Promise.all([
      run('curl -sS http://www.example.com/1'),
      run('curl -sS http://www.example.com/2', { network: { hosts: ['other.example.net'], presets: [] } }),
    ]);
    expect(results.map(text)).toEqual(['answer to GET www.example.com /1', expect.stringContaining('writ: refused www.example.com:80')]);
  });
});

it("a preset means the person's own registry too", async () => {
  bed.file('people/dev/.npmrc', 'registry=http://npm.corp.example:4873/\n//npm.corp.example:4873/:_authToken=secret\n');
  const plan = await bed.plan({ network: { hosts: [], presets: ['npm'] } });
  expect(plan.network?.allow).toEqual({ hosts: [], presets: ['npm'], own: ['npm.corp.example:4873'] });
  expect(plan.notes).toContain('network opened for this run: the hosts of npm, npm.corp.example:4873');
  expect((await bed.plan({ network: { hosts: [], presets: ['pypi'] } })).network?.allow).toEqual({ hosts: [], presets: ['pypi'] });
});

describe('ports of the host, opened inward', () => {
  it('are reached at the same number, and no other', async () => {
    await withServer(
      (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nfrom the host'),
      async (port) => {
        const other = await freePort();
        const plan = await bed.plan({}, { loopback: [port, 80] });
        expect(plan.notes).toContain("not opened inward, since a run can't listen there: port 80");
        const result = await runPlanned(`curl -sS http://127.0.0.1:${port}/; curl -sS http://127.0.0.1:${other}/`, plan);
        expect(text(result)).toMatch(/^from the hostcurl: \(7\)/);
        expect(result.receipt?.network).toBeUndefined();
      },
    );
  });
});

describe('published ports', () => {
  // perl belongs to every Debian, and is up at once.
  const server = (port: number, host: string): string => String.raw`exec perl -MIO::Socket::IP -e '
    $| = 1; $s = IO::Socket::IP->new(Listen => 50, LocalAddr => "${host}", LocalPort => ${port}) or die $@; print "listening\n";
    while ($c = $s->accept) {
      ($path) = <$c> =~ m{ (/\S*)}; while (<$c>) { last if /^\r$/ }
      print $c "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello from inside $path"; close $c;
    }'`;

  it.each(['127.0.0.1', '::1'])('a server at %s inside is reached from the host until it ends', async (host) => {
    const port = await freePort();
    // Neither the shell's `wait` nor `pkill node` may touch what carries the connections.
    const started = await begin(`wait; jobs; pkill -x node; ${server(port, host)}`, { ports: [port] });
    await expect.poll(() => started.view().combined.head).toBe('listening\n');
    for (const path of ['/1', '/2', '/3'])
      expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe(`hello from inside ${path}`);
    const many = await Promise.all(Array.from({ length: 40 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text()));
    expect(new Set(many)).toEqual(new Set(['hello from inside /']));
    started.cancel('done');
    expect((await started.done).receipt?.teardown.verified).toBe(true);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('nobody listens inside: the connection ends', async () => {
    const port = await freePort();
    const started = await begin('sleep 60', { ports: [port] });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    started.cancel('done');
    await started.done;
  });

  it('one that is taken is said, and nothing runs', async () => {
    await withServer(
      () => undefined,
      async (port) => {
        const free = await freePort();
        await expect(begin('touch ran', { ports: [free, port] })).rejects.toMatchObject({
          code: 'invalid_arguments',
          message: `Port ${port} of this machine can't be used: it is in use by another program.`,
        });
        await withServerAt(free);
      },
    );
  });
});

/** Whether it can be had. */
async function withServerAt(port: number): Promise<void> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  server.close();
}
