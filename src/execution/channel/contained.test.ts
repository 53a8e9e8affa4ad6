import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeInstallationsFolder } from '../containment/installations.ts';
import { isRoot } from '../containment/testing.ts';
import { listen, makeWorld, type World } from '../network/testing.ts';
import type { ChannelSpec } from '../types.ts';
import { type Booth, makeBooth, NODE, SYSTEM_PATH } from './testing.ts';

let booth: Booth;
let world: World;
beforeAll(() => {
  world = makeWorld();
  booth = makeBooth({ makeGuard: world.makeGuard });
});
afterAll(() => booth.close());

const hear = async (script: string, more?: Partial<ChannelSpec>): Promise<string> => {
  const { out, err } = await booth.hear(script, more);
  return out + err;
};

describe('the environment', () => {
  it('is what was declared and what containment sets, and nothing of ours', async () => {
    const env = {
      PATH: SYSTEM_PATH,
      HOME: '/elsewhere',
      LANG: 'C',
      A: "it's\n$(id) `id`",
      'dotted.name': 'd',
      UID: '77',
      GREETING: 'grüße',
    };
    const text = await hear('', { argv: ['env', '-0'], env });
    const seen = Object.fromEntries(text.split('\0').map((entry) => entry.split(/=(.*)/s).slice(0, 2)));
    expect(seen).toMatchObject({ A: env.A, 'dotted.name': 'd', UID: '77', LANG: 'C', GREETING: 'grüße', TMPDIR: '/tmp' });
    expect(seen['HOME']).toBe(booth.bed.user_home);
    const known = [...Object.keys(env), 'TMPDIR', 'USER', 'LOGNAME', 'PWD', 'SHLVL', '_', ''];
    expect(Object.keys(seen).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('is not in that of the process around it, and holds nothing of the host', async () => {
    const text = await hear('tr "\\0" "\\n" </proc/1/environ; echo ---; cat /proc/self/environ | tr "\\0" "\\n"', {
      env: { PATH: SYSTEM_PATH, MINE: 'only mine' },
    });
    const [outer = '', own = ''] = text.split('---');
    expect(own).toContain('MINE=only mine');
    expect(outer).not.toContain('only mine');
    expect(own).not.toContain('WRIT_');
    for (const name of ['VITEST', 'NODE_ENV']) expect(text).not.toContain(`${name}=`);
  });

  it('does not say whose tree it is in', async () => {
    expect(await hear('echo $WRIT_MARKER', { env: { PATH: SYSTEM_PATH, WRIT_MARKER: 'of another' } })).toBe('\n');
    const marker = await hear('echo $WRIT_MARKER', { env: { PATH: SYSTEM_PATH, WRIT_MARKER: 'of another' }, uncontained: true });
    expect(marker).toMatch(/^exec_/);
  });

  it('loads no code before the gate', async () => {
    const loads = booth.bed.file('work/app/loads.sh', 'echo loaded by $0 $BASHPID >&2');
    const { out, err } = await booth.hear('echo up', {
      env: { PATH: SYSTEM_PATH, BASH_ENV: loads, 'BASH_FUNC_printf%%': '() { echo mine; }', LD_PRELOAD: '/nowhere.so' },
      roots: [{ path: booth.bed.workspace, access: 'read' }],
    });
    expect(out).toBe('up\n');
    // Once, by the program itself; the launcher has the same name and would have said it too.
    expect(err.match(/loaded by/g)).toHaveLength(1);
  });
});

describe('the folders', () => {
  it('are its roots and a home of its own, kept from one to the next of its name and from others', async () => {
    const script = 'cat ~/kept 2>/dev/null; echo mine > ~/kept; cat secret.txt ../dev/secret.txt; ls -A ~';
    const first = await hear(script);
    expect(first).toContain('No such file');
    expect(first).toMatch(/^kept\n/);
    expect(first).not.toContain('the secret');
    expect(await hear(script)).toMatch(/^mine\n/);
    expect(await hear(script, { name: 'upstream:other' })).not.toMatch(/^mine/);
    // A command's in the same folder is another one too.
    expect((await booth.bed.run('ls ~')).stdout).not.toContain('kept');
  });

  it('are to read or to write as declared, with the guards of a Workspace', async () => {
    const { bed } = booth;
    bed.file('work/app/.git/hooks/keep', '');
    bed.file('work/app/.git/HEAD', 'ref: refs/heads/main');
    bed.file('work/app/.git/config', '');
    const data = bed.folder('data/read only');
    bed.file('data/read only/it', 'read me');
    const roots = [
      { path: bed.workspace, access: 'write' },
      { path: data, access: 'read' },
    ] as const;
    const script = `pwd; cat '${data}/it'; echo x > new && echo wrote; echo x > .git/hooks/post-commit; echo x > '${data}/no'; ls ${bed.config.home}`;
    const text = await hear(script, { roots });
    expect(text).toContain(`${bed.workspace}\nread mewrote`);
    expect(text).toMatch(/post-commit: Read-only file system/);
    expect(text).toMatch(/no: Read-only file system/);
    expect(text).not.toContain('key');
    expect(readFileSync(join(bed.workspace, 'new'), 'utf8')).toBe('x\n');
  });

  it('tells of protected paths that appeared, and leaves them', async () => {
    const root = booth.bed.folder('work/bare');
    const channel = await booth.connect('mkdir .claude; echo {} > .claude/settings.json', { roots: [{ path: root, access: 'write' }] });
    const { appeared } = await channel.ended;
    expect(appeared).toEqual([join(root, '.claude')]);
    expect(readFileSync(join(root, '.claude/settings.json'), 'utf8')).toBe('{}\n');
  });

  it.each([
    ['the home', () => booth.bed.user_home],
    ['the Writ home', () => booth.bed.config.home],
    ['what is not there', () => join(booth.bed.base, 'nothing')],
    ['the system', () => '/etc'],
  ])('are never %s', async (_, path) => {
    await expect(booth.connect('true', { roots: [{ path: path(), access: 'read' }] })).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('what is installed for it is there, to read or, while it is installed, to write, and no other part of Writ', async () => {
    const { bed } = booth;
    const place = makeInstallationsFolder(bed.config);
    const mine = bed.folder(join(place, 'one/tree'));
    const program = bed.file(join(mine, 'program'), '#!/bin/sh\ncd "$(dirname "$0")"; pwd; ls ..; echo x > new || cat ../../other', 0o755);
    bed.file(join(place, 'other'), 'of another');
    const read = await hear('', { argv: [program], installation: { path: mine, access: 'read' } });
    expect(read).toContain(`${mine}\ntree\n`);
    expect(read).toContain('Read-only file system');
    expect(read).not.toContain('of another');
    expect(await hear('', { argv: [program], installation: { path: mine, access: 'write' } })).toBe(`${mine}\ntree\n`);
    expect(readFileSync(join(mine, 'new'), 'utf8')).toBe('x\n');
    symlinkSync(bed.config.home, join(place, 'link'));
    for (const path of [place, bed.config.home, join(place, 'link'), join(place, 'nothing'), join(place, 'other'), bed.user_home]) {
      await expect(booth.connect('true', { installation: { path, access: 'read' } })).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it.runIf(isRoot)('what root has installed is there for a program of another user', async () => {
    const { bed } = booth;
    const root = bed.folder('work/theirs');
    chownSync(root, 4321, 4321);
    const mine = bed.folder(join(makeInstallationsFolder(bed.config), 'two/tree'));
    const program = bed.file(join(mine, 'program'), '#!/bin/sh\nid -u', 0o755);
    const more = { roots: [{ path: root, access: 'read' }], installation: { path: mine, access: 'read' } } as const;
    expect(await hear('', { argv: [program], ...more })).toBe('4321\n');
  });

  it('and where it starts is one of them', async () => {
    const roots = [{ path: booth.bed.workspace, access: 'read' }] as const;
    const below = booth.bed.folder('work/app/below');
    expect(await hear('pwd', { roots, cwd: below })).toBe(`${below}\n`);
    expect(await hear('pwd', { cwd: '/tmp' })).toBe('/tmp\n');
    for (const cwd of [booth.bed.base, join(booth.bed.workspace, 'nowhere'), 'below', '/proc/self/root']) {
      await expect(booth.connect('pwd', { roots, cwd })).rejects.toMatchObject({ code: 'invalid_arguments' });
    }
  });

  it('/dev/shm is there where it was asked for', async () => {
    const script = 'echo x > /dev/shm/x && echo wrote';
    expect(await hear(script, { dev_shm: true })).toBe('wrote\n');
    expect(await hear(script)).not.toContain('wrote');
  });
});

it('user namespaces inside are there where they were asked for', async () => {
  const script = 'unshare --user true && echo made';
  expect(await hear(script, { nested_userns: true })).toBe('made\n');
  expect(await hear(script)).not.toContain('made');
});

describe('the network', () => {
  const reach = (port: number): string => `exec 3<>/dev/tcp/127.0.0.1/${port} && head -c 5 <&3`;

  it('is off, the whole of the host, or a list', async () => {
    const site = await listen((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello'));
    try {
      expect(await hear(reach(site.port))).toContain('Connection refused');
      expect(await hear(reach(site.port), { network: 'full' })).toBe('HTTP/');
      world.places.set('good.example:80', site.port);
      world.places.set('bad.example:80', site.port);
      const channel = await booth.connect('curl -sS http://good.example/; curl -sS -o /dev/null -w "%{http_code}" http://bad.example/', {
        network: { hosts: ['good.example'], presets: [] },
      });
      const said: Buffer[] = [];
      for await (const bytes of channel.stdout) said.push(bytes);
      expect(Buffer.concat(said).toString()).toBe('hello403');
      const { network } = await channel.ended;
      expect(network?.allowed).toMatchObject([{ host: 'good.example', connections: 1 }]);
      expect(network?.refused).toMatchObject([{ host: 'bad.example' }]);
    } finally {
      site.close();
    }
  });

  it('is said to be what it is', async () => {
    const states = async (network: ChannelSpec['network']): Promise<unknown> => {
      const channel = await booth.connect('true', { network });
      await channel.ended;
      const { dimensions } = channel.containment;
      return [dimensions.network.state, dimensions.unix_sockets.state, dimensions.wall_clock.state];
    };
    expect(await states('none')).toEqual(['enforced', 'enforced', 'not_enforced']);
    expect(await states('full')).toEqual(['not_enforced', 'best_effort', 'not_enforced']);
    expect(await states({ hosts: [], presets: ['npm'] })).toEqual(['enforced', 'enforced', 'not_enforced']);
  });
});

describe('sockets of the host', () => {
  it('are those that were declared', async () => {
    const path = join(booth.bed.folder('run'), 'host.sock');
    const hidden = join(booth.bed.user_home, 'hidden.sock');
    const servers = [path, hidden].map((one) => createServer((socket) => void socket.end('served')).listen(one));
    try {
      for (const one of [path, hidden]) await expect.poll(() => chmodSync(one, 0o666)).toBeUndefined();
      const ask = (one: string): string =>
        `import socket; s = socket.socket(socket.AF_UNIX); s.connect("${one}"); print(s.recv(9).decode())`;
      const unix_sockets = [path, hidden];
      for (const one of unix_sockets) expect(await hear('', { argv: ['python3', '-c', ask(one)], unix_sockets })).toBe('served\n');
      expect(await hear('', { argv: ['python3', '-c', ask(path)] })).toContain('Error');
    } finally {
      for (const server of servers) server.close();
    }
  });

  it.each([
    ['is a file', () => booth.bed.file('work/plain')],
    ['is not there', () => '/run/nothing.sock'],
    ['has no absolute name', () => 'host.sock'],
  ])('are refused where one %s', async (_, path) => {
    await expect(booth.connect('true', { unix_sockets: [path()] })).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it("are never Writ's own, by whatever name", async () => {
    const own = join(booth.bed.config.home, 'writ.sock');
    const link = join(booth.bed.base, 'link.sock');
    symlinkSync(own, link);
    const server = createServer().listen(own);
    try {
      for (const path of [own, link]) {
        await expect(booth.connect('true', { unix_sockets: [path] })).rejects.toThrow(/Writ home/);
      }
    } finally {
      server.close();
    }
  });
});

describe('the program', () => {
  it('is a Node or a Python of this machine', async () => {
    expect(await hear('', { argv: [NODE, '-p', '6 * 7'] })).toBe('42\n');
    expect(await hear('', { argv: ['node', '-p', 'process.argv0'] })).toBe('node\n');
    expect(await hear('', { argv: ['python3', '-c', 'print(6 * 7)'] })).toBe('42\n');
  });

  it('brings its package along, to read, wherever that lies', async () => {
    const { bed } = booth;
    const bin = bed.file(
      'people/dev/apps/node_modules/server/bin.js',
      '#!/usr/bin/env node\nconsole.log(require("dep"), process.argv[2])',
      0o755,
    );
    bed.file('people/dev/apps/node_modules/dep/index.js', 'module.exports = "from dep"');
    bed.folder('people/dev/apps/node_modules/.bin');
    const link = join(bed.user_home, 'apps/node_modules/.bin/server');
    symlinkSync('../server/bin.js', link);
    for (const program of [bin, link]) expect(await hear('', { argv: [program, 'arg'] })).toBe('from dep arg\n');
    const env = { PATH: `${join(bed.user_home, 'apps/node_modules/.bin')}:${join(NODE, '..')}:${SYSTEM_PATH}` };
    expect(await hear('', { argv: ['server', 'arg'], env })).toBe('from dep arg\n');

    const script = bed.file('people/dev/code/tool/dist/index.js', 'console.log(require("../lib/word.js"))');
    bed.file('people/dev/code/tool/package.json', '{}');
    bed.file('people/dev/code/tool/lib/word.js', 'module.exports = "built by hand"');
    bed.file('people/dev/code/other.txt', 'of somebody else');
    expect(await hear('', { argv: ['node', '--no-warnings', script] })).toBe('built by hand\n');
    // By a way that isn't there inside.
    symlinkSync(join(bed.user_home, 'code/tool'), join(bed.user_home, 'tool'));
    expect(await hear('', { argv: ['node', join(bed.user_home, 'tool/dist/index.js')] })).toBe('built by hand\n');
    expect(await hear('', { argv: ['bash', '-c', `cat ${bed.user_home}/code/other.txt`, script] })).not.toContain('somebody else');

    const venv = join(bed.user_home, 'code/venv');
    mkdirSync(join(venv, 'bin'), { recursive: true });
    writeFileSync(join(venv, 'pyvenv.cfg'), 'home = /usr/bin\n');
    symlinkSync('/usr/bin/python3', join(venv, 'bin/python'));
    expect(await hear('', { argv: [join(venv, 'bin/python'), '-c', 'import sys; print(sys.prefix)'] })).toBe(`${venv}\n`);
  });

  it('that is alone in a folder right in the home comes alone', async () => {
    const script = booth.bed.file('people/dev/Downloads/server.py', 'import os; print(sorted(os.listdir(os.path.dirname(__file__))))');
    booth.bed.file('people/dev/Downloads/statement.pdf', 'private');
    expect(await hear('', { argv: ['python3', script] })).toBe("['server.py']\n");
  });

  it('that is not there is said to be so before anything starts', async () => {
    const refused = async (more: Partial<ChannelSpec>): Promise<string> => {
      const thrown: unknown = await booth.connect('', more).catch((error: unknown) => error);
      expect(thrown).toMatchObject({ code: 'not_found' });
      return (thrown as Error).message;
    };
    expect(await refused({ argv: ['no-such-server'], env: { PATH: '/opt/x:/usr/bin' } })).toContain('looked in /opt/x, /usr/bin');
    expect(await refused({ argv: ['/opt/no/such'] })).toContain('/opt/no');
    expect(await refused({ argv: ['./server'], roots: [{ path: booth.bed.workspace, access: 'read' }] })).toContain(booth.bed.workspace);
    // Executable, but where keys lie.
    expect(await refused({ argv: [booth.bed.file('people/dev/.ssh/server', '#!/bin/sh\n', 0o755)] })).toContain('.ssh');
    expect(await refused({ argv: [booth.bed.file('people/dev/.writ/server', '#!/bin/sh\n', 0o755)] })).toContain('Writ home');
  });

  it.each([
    ['a NUL', { argv: ['echo', 'a\0b'] }],
    ['nothing', { argv: [] }],
    ['an empty name', { argv: [''] }],
    ['too much', { argv: ['true', 'x'.repeat(2 << 20)] }],
    ['a name that is none', { env: { 'A=B': 'c' } }],
    ['no name', { name: '' }],
  ])('is refused with %s', async (_, more) => {
    await expect(booth.connect('true', more)).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('has its arguments as they are', async () => {
    const odd = ['', ' ', "it's", '$HOME `id` $(id)', 'a\nb', '-n', '*', '\\', 'ü'];
    expect(await hear('', { argv: ['printf', '<%s>', ...odd] })).toBe(odd.map((one) => `<${one}>`).join(''));
  });
});

it('is ended for the disk that it fills, and says so', async () => {
  const limits = { ...booth.bed.config.limits, disk_bytes: 1 << 20 };
  const channel = await booth.connect('while :; do head -c 1M /dev/zero >> ~/big; sleep 0.02; done', { limits });
  expect(await channel.ended).toMatchObject({ cause: 'disk', limits_hit: ['disk'], teardown: { verified: true } });
});

describe('who it is', () => {
  it.runIf(isRoot)('the owner of its first root', async () => {
    const root = booth.bed.folder('work/theirs');
    chownSync(root, 65_534, 65_534);
    const roots = [{ path: root, access: 'write' }] as const;
    expect(await hear('id -u; touch mine; stat -c %u mine; cat ~/none 2>/dev/null; touch ~/x && echo home', { roots })).toBe(
      '65534\n65534\nhome\n',
    );
  });

  it.runIf(isRoot)('nobody with privileges, where that is root', async () => {
    const channel = await booth.connect('id -u; grep CapEff /proc/self/status');
    const said: Buffer[] = [];
    for await (const bytes of channel.stdout) said.push(bytes);
    expect(Buffer.concat(said).toString()).toBe('1000\nCapEff:\t0000000000000000\n');
    expect(channel.containment.dimensions.uid.state).toBe('not_enforced');
  });

  it('Writ itself, where the operator let it out', async () => {
    const env = { PATH: SYSTEM_PATH, MINE: '1' };
    const channel = await booth.connect('echo $MINE $UID; cat secret.txt', { uncontained: true, env, cwd: booth.bed.user_home });
    const said: Buffer[] = [];
    for await (const bytes of channel.stdout) said.push(bytes);
    expect(Buffer.concat(said).toString()).toBe(`1 ${process.getuid?.()}\nthe secret of the home`);
    expect(channel.containment).toMatchObject({ backend: 'none', dimensions: { fs_read: { state: 'not_enforced' } } });
    expect(await channel.ended).toMatchObject({ cause: 'exited', exit_code: 0 });
  });
});
