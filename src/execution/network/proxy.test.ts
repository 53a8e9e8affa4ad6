import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAllowList } from './allow-list.ts';
import { readHost } from './host-name.ts';
import { createProxy, type RunProxy } from './proxy.ts';
import { exchange, listen, makeWorld, type World } from './testing.ts';

interface Seen {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

let world: World;
let origin: HttpServer;
let seen: Seen[];
let proxy: RunProxy;
let http: Awaited<ReturnType<typeof listen>>;
let socks: Awaited<ReturnType<typeof listen>>;
let echo: Awaited<ReturnType<typeof listen>>;

beforeEach(async () => {
  seen = [];
  origin = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.rawHeaders, body });
      response.writeHead(200, { 'x-answer': 'yes', connection: 'keep-alive' });
      response.end(`answer to ${request.url}`);
    });
  });
  await new Promise<void>((done) => origin.listen(0, '127.0.0.1', done));
  // Says what it hears in capitals, and has a last word after the other side has ended.
  echo = await listen((socket) => {
    socket.on('data', (chunk) => socket.write(chunk.toString().toUpperCase()));
    socket.on('end', () => socket.end(' BYE'));
  });
  world = makeWorld({ 'inner.example.com': ['10.0.0.5'], 'other.example.com': ['93.184.216.34'] });
  world.places.set('www.example.com:80', (origin.address() as { port: number }).port);
  world.places.set('www.example.com:443', echo.port);
  world.places.set('93.184.216.34:443', echo.port);
  world.places.set('192.168.7.7:443', echo.port);
  world.places.set('odd.example.com:9000', echo.port);
  proxy = createProxy(
    {
      hosts: ['www.example.com', 'inner.example.com', 'gone.example.com', 'odd.example.com:9000', '93.184.216.34', '192.168.7.7'],
      presets: [],
    },
    world.makeGuard,
  );
  http = await listen(proxy.http);
  socks = await listen(proxy.socks);
});
afterEach(() => {
  proxy.close();
  for (const one of [http, socks, echo]) one.close();
  origin.closeAllConnections();
  origin.close();
});

const get = (target: string, headers = '', version = '1.1'): Promise<string> =>
  exchange(http.port, `GET ${target} HTTP/${version}\r\n${headers === '' ? 'Host: www.example.com\r\n' : headers}\r\n`);

describe('HTTP', () => {
  it('forwards a request as it was meant, without what is between neighbours', async () => {
    const answer = await exchange(
      http.port,
      'POST http://www.example.com/a%2Fb/../c?q=1 HTTP/1.1\r\nHost: WWW.example.com:80\r\nContent-Length: 5\r\nProxy-Authorization: Basic eA==\r\nConnection: x-private\r\nX-Private: 1\r\nX-Kept: 2\r\nProxy-Connection: keep-alive\r\n\r\nhello',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    expect(answer).toMatch(/x-answer: yes/);
    expect(answer).toMatch(/answer to \/a%2Fb\/\.\.\/c\?q=1/);
    expect(seen).toEqual([
      {
        line: 'POST /a%2Fb/../c?q=1',
        headers: ['Host', 'www.example.com', 'Content-Length', '5', 'X-Kept', '2', 'Connection', 'close'],
        body: 'hello',
      },
    ]);
    expect(proxy.use()).toMatchObject({
      allowed: [{ host: 'www.example.com', port: 80, connections: 1, failed: 0 }],
      refused: [],
      omitted: 0,
    });
    expect(proxy.use().allowed[0]?.bytes_received).toBeGreaterThan(50);
  });

  it('passes chunked bodies on', async () => {
    const answer = await exchange(
      http.port,
      'POST http://www.example.com/ HTTP/1.1\r\nHost: www.example.com\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    );
    expect(answer).toMatch(/200 OK/);
    expect(seen[0]?.body).toBe('hello');
  });

  it.each([
    ['another Host than the target', 'http://www.example.com/', 'Host: evil.example.net\r\n', 400],
    ['another port than the target', 'http://www.example.com/', 'Host: www.example.com:8080\r\n', 400],
    ['two Hosts', 'http://www.example.com/', 'Host: www.example.com\r\nHost: www.example.com\r\n', 400],
    ['no Host', 'http://www.example.com/', 'X: y\r\n', 400],
    ['two lengths', 'http://www.example.com/', 'Host: www.example.com\r\nContent-Length: 0\r\nContent-Length: 0\r\n', 400],
    [
      'a length and an encoding',
      'http://www.example.com/',
      'Host: www.example.com\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n',
      400,
    ],
    ['an unknown encoding', 'http://www.example.com/', 'Host: www.example.com\r\nTransfer-Encoding: gzip, chunked\r\n', 400],
    ['a space before the colon', 'http://www.example.com/', 'Host : www.example.com\r\n', 400],
    ['a bare line feed', 'http://www.example.com/', 'Host: www.example.com\nX: y\r\n', 400],
    ['a folded line', 'http://www.example.com/', 'Host: www.example.com\r\nX: a\r\n b\r\n', 400],
    ['user information', 'http://www.example.com@evil.example.net/', 'Host: www.example.com\r\n', 403],
    ['an origin-form target', '/secret', 'Host: www.example.com\r\n', 400],
    ['https in the clear', 'https://www.example.com/', 'Host: www.example.com\r\n', 400],
    ['another scheme', 'ftp://www.example.com/', 'Host: www.example.com\r\n', 403],
    ['a host that is not on the list', 'http://other.example.com/', 'Host: other.example.com\r\n', 403],
    ['a host whose name only ends alike', 'http://evilwww.example.com/', 'Host: evilwww.example.com\r\n', 403],
    ['a port that was not named', 'http://www.example.com:8080/', 'Host: www.example.com:8080\r\n', 403],
    ['a name that leads inside', 'http://inner.example.com/', 'Host: inner.example.com\r\n', 403],
    ['loopback', 'http://0x7f.1/', 'Host: 0x7f.1\r\n', 403],
    ['a name without an address', 'http://gone.example.com/', 'Host: gone.example.com\r\n', 502],
  ])('refuses %s', async (_what, target, headers, status) => {
    expect(await get(target, headers)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(seen).toEqual([]);
    expect(world.dialled).toEqual([]);
  });

  it.each([
    ['a status line with control characters', 'HTTP/1.1 200 b\x01ad\r\nContent-Length: 2\r\n\r\nhi'],
    ['a header with control characters', 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 2\r\n\r\nhi'],
    ['no HTTP at all', 'SSH-2.0-x\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!'],
    ['an end in the middle of the head', 'HTTP/1.1 200 OK\r\nX'],
    ['a status that is none', 'HTTP/1.1 999999 OK\r\n\r\n'],
    ['a switch of protocols that nobody asked for', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['nothing', ''],
  ])('survives a server that answers with %s', async (_what, bytes) => {
    const odd = await listen((socket) => socket.once('data', () => socket.end(Buffer.from(bytes, 'latin1'))));
    world.places.set('www.example.com:80', odd.port);
    const answer = await get('http://www.example.com/');
    expect(answer === '' || /^HTTP\/1\.1 (200|502) /.test(answer)).toBe(true);
    odd.close();
  });

  it('survives whatever bytes a server makes of an answer', async () => {
    let bytes = Buffer.alloc(0);
    const odd = await listen((socket) => socket.once('data', () => socket.end(bytes)));
    world.places.set('www.example.com:80', odd.port);
    const line = fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.0 302 x',
      'HTTP/1.1 204',
      'HTTP/1.1 100 Continue',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Connection: x',
      'Trailer: y',
      '',
      '5',
      'hello',
      '0',
    );
    const mutation = fc.tuple(fc.nat(200), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 10 }), fc.array(mutation, { maxLength: 3 }), async (lines, mutations) => {
        bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${lines.map((one) => `${one}\r\n`).join('')}`, 'latin1');
        for (const [at, byte] of mutations) bytes[at % bytes.length] = byte;
        const answer = await get('http://www.example.com/').catch(() => 'reset');
        return answer === '' || answer === 'reset' || /^HTTP\/1\.1 [2-5]\d\d /.test(answer);
      }),
      { numRuns: 40 },
    );
    odd.close();
  });

  it('says which host it was and how to ask', async () => {
    expect(await get('http://other.example.com/', 'Host: other.example.com\r\n')).toContain(
      'writ: refused other.example.com:80 (not in the allow-list); ask by naming it in the command\n',
    );
    await get('http://other.example.com/', 'Host: other.example.com\r\n');
    await get('http://inner.example.com/', 'Host: inner.example.com\r\n');
    expect(proxy.hints()).toEqual([
      'network: refused other.example.com:80 (not in the allow-list); ask by naming it in the command',
      'network: refused inner.example.com:80 (inner.example.com leads to 10.0.0.5, a private address); where that is meant, ask by naming the address too',
    ]);
    expect(proxy.use().refused).toEqual([
      { host: 'other.example.com', port: 80, connections: 2, reason: 'not in the allow-list' },
      { host: 'inner.example.com', port: 80, connections: 1, reason: 'inner.example.com leads to 10.0.0.5, a private address' },
    ]);
  });

  it('serves one request a connection: what is sent behind it goes nowhere', async () => {
    const one = 'GET http://www.example.com/1 HTTP/1.1\r\nHost: www.example.com\r\n\r\n';
    const answer = await exchange(http.port, `${one}${one.replace('/1', '/2').replaceAll('www', 'other')}`);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(seen.map(({ line }) => line)).toEqual(['GET /1']);
  });
});

describe('CONNECT', () => {
  const tunnel = (target: string, more = '', headers = `Host: ${target}\r\n`): Promise<string> =>
    exchange(http.port, `CONNECT ${target} HTTP/1.1\r\n${headers}\r\n${more}`, { end: true });

  it('joins both sides, early bytes and a half-closed side included', async () => {
    expect(await tunnel('www.example.com:443', 'early')).toBe('HTTP/1.1 200 Connection established\r\n\r\nEARLY BYE');
    expect(await tunnel('www.example.com:443', 'x', '')).toMatch(/X BYE$/);
    expect(await tunnel('93.184.216.34:443', 'x')).toMatch(/X BYE$/);
    expect(await tunnel('odd.example.com:9000', 'x')).toMatch(/X BYE$/);
  });

  it('a private address is opened only where it was named itself', async () => {
    expect(await tunnel('192.168.7.7:443', 'x')).toMatch(/X BYE$/);
    expect(await tunnel('192.168.7.8:443', 'x')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await tunnel('[::ffff:192.168.7.7]:443', 'x')).toMatch(/X BYE$/);
  });

  it.each([
    ['www.example.com', 400],
    ['http://www.example.com/', 400],
    ['user@www.example.com:443', 400],
    ['www.example.com:443/x', 400],
    ['www.example.com:99999', 403],
    ['www.example.com:25', 403],
    ['odd.example.com:443', 403],
    ['other.example.com:443', 403],
    ['169.254.169.254:80', 403],
    ['[::1]:443', 403],
    ['localhost:443', 403],
  ])('%s is answered with %i', async (target, status) => {
    expect(await tunnel(target, 'x')).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(world.dialled).toEqual([]);
  });

  it('refuses a body and another Host', async () => {
    expect(await tunnel('www.example.com:443', '', 'Host: www.example.com:443\r\nContent-Length: 3\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await tunnel('www.example.com:443', '', 'Host: evil.example.net\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a head without an end is cut off at its limit', async () => {
    expect(await exchange(http.port, `CONNECT www.example.com:443 HTTP/1.1\r\nX: ${'x'.repeat(64 * 1024)}`)).toMatch(/^HTTP\/1\.1 4/);
    expect(world.dialled).toEqual([]);
  });
});

describe('SOCKS 5', () => {
  const name = (host: string, port: number): Buffer =>
    Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), Buffer.from(host), Buffer.from([port >> 8, port & 255])]);
  const ask = (request: Buffer, more = ''): Promise<string> =>
    exchange(socks.port, Buffer.concat([Buffer.from([5, 1, 0]), request, Buffer.from(more)]), { end: true });
  const code = async (request: Buffer): Promise<number> => (await ask(request)).charCodeAt(3);

  it('reaches names and addresses', async () => {
    expect((await ask(name('www.example.com', 443), 'hey')).slice(12)).toBe('HEY BYE');
    expect((await ask(Buffer.from([5, 1, 0, 1, 93, 184, 216, 34, 1, 187]), 'hey')).slice(12)).toBe('HEY BYE');
    expect(proxy.use().allowed.map(({ host }) => host)).toEqual(['www.example.com', '93.184.216.34']);
  });

  it('refuses what is not on the list, and what it does not speak', async () => {
    expect(await code(name('other.example.com', 443))).toBe(2);
    expect(await code(name('127.1', 80))).toBe(2);
    expect(await code(name('gone.example.com', 80))).toBe(4);
    expect(await code(Buffer.from([5, 2, 0, 1, 1, 2, 3, 4, 0, 80]))).toBe(7);
    expect(await code(Buffer.from([5, 1, 0, 9, 1, 2, 3, 4, 0, 80]))).toBe(8);
    expect(await exchange(socks.port, Buffer.from([4, 1, 0, 80, 1, 2, 3, 4, 0]))).toBe('');
    expect(await exchange(socks.port, Buffer.from([5, 1, 2]))).toBe('');
    expect(world.dialled).toEqual([]);
  });

  it('understands a handshake that comes in pieces', async () => {
    const client = connect(socks.port, '127.0.0.1');
    const bytes = Buffer.concat([Buffer.from([5, 1, 0]), name('www.example.com', 443), Buffer.from('hey')]);
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    for (const byte of bytes) await new Promise<void>((done) => client.write(Buffer.from([byte]), () => setImmediate(done)));
    await expect.poll(() => text.slice(12)).toBe('HEY');
    client.destroy();
  });

  it('no bytes whatever reach anybody without a request for them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 40 }), async (bytes) => {
        const both = [exchange(socks.port, Buffer.from(bytes), { end: true }), exchange(http.port, Buffer.from(bytes), { end: true })];
        await Promise.all(both.map((one) => one.catch(() => '')));
        return world.dialled.length === 0;
      }),
      { numRuns: 20 },
    );
  });
});

describe('bounds', () => {
  it('more connections than it serves are closed', async () => {
    const held = Array.from({ length: 128 }, () => connect(http.port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(held.map((socket) => new Promise((done) => socket.once('connect', done))));
    await expect.poll(async () => exchange(http.port, 'x').catch(() => 'reset')).toMatch(/^(reset)?$/);
    for (const socket of held) socket.destroy();
    await expect.poll(() => get('http://www.example.com/')).toMatch(/200 OK/);
  });

  it('who does not say what it wants in time is not waited for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const slow = [exchange(http.port, 'CONNECT www.example.com:443 HTTP/1.1\r\nX: '), exchange(socks.port, Buffer.from([5, 1, 0, 5]))];
      const ends = Promise.all(slow.map((one) => one.catch(() => 'reset')));
      while (http.sockets.size + socks.sockets.size < 2) await new Promise((done) => setImmediate(done));
      vi.advanceTimersByTime(15_000);
      for (const end of await ends) expect(['', 'reset', '\x05\x00']).toContain(end);
    } finally {
      vi.useRealTimers();
    }
  });

  it('its end ends every connection', async () => {
    const open = exchange(http.port, 'CONNECT www.example.com:443 HTTP/1.1\r\n\r\nabc');
    await expect.poll(() => world.dialled).toHaveLength(1);
    proxy.close();
    await open.catch(() => undefined);
  });

  it('peers that reset at any moment leave nothing behind, and nobody unhandled', async () => {
    const openings = [
      ['http', 'GET http://www.example.com/ HTTP/1.1\r\nHost: www.example.com\r\n\r\n'],
      ['http', 'POST http://www.example.com/ HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 100\r\n\r\nhalf'],
      ['http', 'CONNECT www.example.com:443 HTTP/1.1\r\n\r\nabc'],
      ['http', 'CONNECT odd.example.com:9000 HTTP/1.1\r\n\r\n'],
      ['socks', '\x05\x01\x00\x05\x01\x00\x03\x0fwww.example.com\x01\xbbabc'],
    ] as const;
    const gone: Promise<unknown>[] = [];
    for (let turns = 0; turns < 12; turns++) {
      for (const [kind, bytes] of openings) {
        const client = connect(kind === 'http' ? http.port : socks.port, '127.0.0.1');
        client.on('error', () => undefined);
        gone.push(new Promise((done) => client.on('close', done)));
        client.write(Buffer.from(bytes, 'latin1'));
        for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
        if (turns % 3 === 0) for (const far of echo.sockets) far.resetAndDestroy();
        client.resetAndDestroy();
      }
    }
    await Promise.all(gone);
    await expect.poll(() => http.sockets.size + socks.sockets.size + echo.sockets.size).toBe(0);
    expect(await get('http://www.example.com/')).toMatch(/200 OK/);
  });

  it('lists a hundred hosts and counts the rest', async () => {
    for (let index = 0; index < 103; index++) await get(`http://h${index}.example.net/`, `Host: h${index}.example.net\r\n`);
    expect(proxy.use().refused).toHaveLength(100);
    expect(proxy.use().omitted).toBe(3);
    expect(proxy.hints()).toHaveLength(9);
    expect(proxy.hints().at(-1)).toBe('network: 92 more hosts were refused or could not be reached');
  });
});

describe('the allow-list', () => {
  const allows = (entry: string, host: string, port: number): boolean =>
    createAllowList({ hosts: [entry], presets: [] }).allows(readHost(host), port);

  it.each<[string, string, number, boolean]>([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'EXAMPLE.com.', 80, true],
    ['example.com', 'example.com', 22, true],
    ['example.com', 'example.com', 8443, false],
    ['example.com', 'a.example.com', 443, false],
    ['*.example.com', 'a.b.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'badexample.com', 443, false],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['bücher.example', 'xn--bcher-kva.example', 443, true],
    ['93.184.216.34', '0x5db8d822', 443, true],
    ['[2606:4700::1]:8443', '2606:4700:0::1', 8443, true],
    ['2606:4700::1', '[2606:4700::1]', 443, true],
    ['*.com', 'example.com', 443, false],
    ['*', 'example.com', 443, false],
    ['127.0.0.1', '127.0.0.1', 80, false],
    ['user@example.com', 'example.com', 443, false],
    ['example.com:0', 'example.com', 0, false],
  ])('%s and %s:%i: %s', (entry, host, port, expected) => expect(allows(entry, host, port)).toBe(expected));

  it('a registry of the person is opened wherever it leads to, and only that', () => {
    const list = createAllowList({ hosts: ['npm.corp.example'], presets: [], own: ['npm.corp.example:4873', 'pip.corp.example'] });
    expect(list.allows(readHost('npm.corp.example'), 4873)).toBe(true);
    expect(list.allows(readHost('pip.corp.example'), 443)).toBe(true);
    expect(list.opened).toEqual([
      { host: 'npm.corp.example', port: 4873 },
      { host: 'pip.corp.example', port: 80 },
      { host: 'pip.corp.example', port: 443 },
      { host: 'pip.corp.example', port: 22 },
    ]);
  });

  it('says what it can not give', () => {
    expect(createAllowList({ hosts: ['*', 'a b'], presets: ['nonsense', 'kubernetes', 'toString', 'npm'] }).problems).toEqual([
      '"*" was not opened: this is not the name of a host',
      '"a b" was not opened: this is not the name of a host',
      'no hosts are known for "nonsense"; name them in the command',
      'no hosts are known for "kubernetes"; name them in the command',
      'no hosts are known for "toString"; name them in the command',
    ]);
  });
});
