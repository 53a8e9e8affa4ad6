import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, isRoot, makeBed } from '../containment/testing.ts';
import type { Running } from '../core-types.ts';
import { createRunning } from '../running/index.ts';
import type { RunResult, RunSpec } from '../types.ts';
import { listen, makeWorld } from './testing.ts';

/** Programs as people use them, with a network that is a folder of files behind the right names. */
let bed: Bed;
let running: Running;
let servers: readonly Server[];
let ssh: Awaited<ReturnType<typeof listen>>;
let site: string;
/** What clients said to the ssh server before it hung up. */
const greeted: string[] = [];
const has = (program: string): boolean => existsSync(`/usr/bin/${program}`);

beforeAll(async () => {
  bed = makeBed();
  site = bed.folder('site');
  const certificate = makeCertificate(bed.workspace, [
    'www.example.com',
    'git.example.com',
    'registry.npmjs.org',
    'pypi.org',
    'files.pythonhosted.org',
  ]);
  const world = makeWorld();
  const http = createHttpServer(serve);
  const https = createHttpsServer(certificate, serve);
  servers = [http, https];
  for (const server of servers) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  for (const name of ['www.example.com', 'git.example.com', 'registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org', 'deb.debian.org']) {
    world.places.set(`${name}:80`, portOf(http));
    world.places.set(`${name}:443`, portOf(https));
  }
  ssh = await listen((socket) => {
    socket.write('SSH-2.0-test\r\n');
    socket.once('data', (said) => {
      greeted.push(said.toString().trim());
      socket.destroy();
    });
  });
  world.places.set('git.example.com:22', ssh.port);
  running = createRunning(bed.config, systemClock, { makeGuard: world.makeGuard });
});
afterAll(async () => {
  await running.close();
  for (const server of servers) server.close();
  ssh.close();
  bed.remove();
});

const portOf = (server: Server): number => (server.address() as { port: number }).port;

function serve(request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://x').pathname.replace(/\/$/, '/index.html');
  try {
    if (path.endsWith('.html')) response.setHeader('content-type', 'text/html');
    response.end(readFileSync(join(site, String(request.headers.host), path)));
  } catch {
    response.writeHead(404);
    response.end();
  }
}

/** Puts a file where `https://HOST/PATH` finds it. */
function publish(place: string, content: string | Buffer): void {
  const path = join(site, place);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
}

/** Its public half lies in the workspace as `ca.pem`. */
function makeCertificate(folder: string, names: readonly string[]): { readonly key: Buffer; readonly cert: Buffer } {
  const [key, cert] = [bed.file('tls/key.pem'), join(folder, 'ca.pem')];
  const san = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=test', '-addext', san], { stdio: 'pipe' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

async function run(command: string, network: NonNullable<RunSpec['network']>): Promise<RunResult> {
  const spec = bed.spec({ command, network, timeout_ms: 60_000, git_config_write: true });
  const exec_id = newId('exec');
  const folder = bed.folder(`people/dev/.writ/${exec_id}`);
  const started = await running.start({ exec_id, spec, plan: await bed.plan(spec), folder, durable: false, logger: silentLogger });
  return started.done;
}
const hosts = (...named: readonly string[]): NonNullable<RunSpec['network']> => ({ hosts: named, presets: [] });
const preset = (name: string): NonNullable<RunSpec['network']> => ({ hosts: [], presets: [name] });
const exitOf = (result: RunResult): unknown => (result.outcome.state === 'exited' && result.outcome.exit_code === 0 ? 0 : result);

it('curl and wget fetch over HTTPS, verified end to end', async () => {
  publish('www.example.com/file', 'a file');
  const both = `curl -sS --cacert ca.pem https://www.example.com/file; ${has('wget') ? 'wget -qO- --ca-certificate=ca.pem https://www.example.com/file' : 'printf "a file"'}`;
  const result = await run(both, hosts('www.example.com'));
  expect(result.output.combined.head).toBe('a filea file');
  const unverified = await run('curl -sS https://www.example.com/file', hosts('www.example.com'));
  expect(unverified.output.combined.head).toMatch(/certificate/);
});

it.skipIf(!has('git'))('git clones over HTTPS, and from nowhere else', async () => {
  const bare = bed.folder('site/git.example.com/repo.git');
  const work = bed.folder('seed');
  const git = (cwd: string, ...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', '-c', 'safe.directory=*'];
    execFileSync('git', [...identity, ...args], { cwd, stdio: 'pipe', env: { PATH: process.env['PATH'], HOME: bed.base } });
  };
  git(work, 'init', '-q');
  writeFileSync(join(work, 'read.me'), 'from upstream');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'one');
  git(work, 'clone', '-q', '--bare', '.', bare);
  git(bare, 'update-server-info');
  const clone = 'git -c http.sslCAInfo=$PWD/ca.pem clone -q https://git.example.com/repo.git copy && cat copy/read.me';
  const result = await run(clone, hosts('git.example.com'));
  expect(result.output.combined.head).toBe('from upstream');
  const refused = await run(clone.replace(' copy', ' copy2'), hosts('www.example.com'));
  expect(refused.outcome).toMatchObject({ state: 'exited', exit_code: 128 });
  expect(refused.receipt?.hints.join()).toContain('refused git.example.com:443');
});

it.skipIf(!has('ssh'))('ssh, and git through it, meet the host they name', async () => {
  const result = await run(
    'ssh -o BatchMode=yes -o ConnectTimeout=10 git.example.com true; git ls-remote git@other.example.net:repo.git',
    hosts('git.example.com'),
  );
  expect(greeted).toEqual([expect.stringMatching(/^SSH-2\.0-OpenSSH/)]);
  expect(result.receipt?.network?.allowed).toMatchObject([{ host: 'git.example.com', port: 22, connections: 1 }]);
  expect(result.output.combined.head).toContain('writ: refused other.example.net:22 (not in the allow-list)');
});

it.skipIf(!has('npm'))('npm ci installs through its preset', async () => {
  const pack = bed.folder('pack/package');
  writeFileSync(join(pack, 'package.json'), '{"name":"left","version":"1.0.0"}');
  writeFileSync(join(pack, 'index.js'), 'module.exports = "left is here";');
  execFileSync('tar', ['czf', '../left.tgz', '-C', '..', 'package'], { cwd: pack });
  const tarball = readFileSync(join(pack, '../left.tgz'));
  publish('registry.npmjs.org/left/-/left-1.0.0.tgz', tarball);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const left = { version: '1.0.0', resolved: 'https://registry.npmjs.org/left/-/left-1.0.0.tgz', integrity };
  const project = { name: 'app', version: '1.0.0', dependencies: { left: '1.0.0' } };
  const locked = { ...project, lockfileVersion: 3, requires: true, packages: { '': project, 'node_modules/left': left } };
  bed.file(join(bed.workspace, 'package.json'), JSON.stringify(project));
  bed.file(join(bed.workspace, 'package-lock.json'), JSON.stringify(locked));
  const install = 'npm_config_cafile=$PWD/ca.pem npm ci --no-audit && node -p "require(\'left\')"';
  const result = await run(install, preset('npm'));
  expect(exitOf(result)).toBe(0);
  expect(result.output.combined.head).toContain('left is here');
  expect(result.receipt?.network?.refused).toEqual([]);
});

it.skipIf(!has('pip3'))('pip installs through its preset', async () => {
  const wheel = bed.folder('wheel');
  const about = 'Metadata-Version: 2.1\nName: left\nVersion: 1.0\n';
  bed.file('wheel/left.py', 'word = "left is here"\n');
  bed.file('wheel/left-1.0.dist-info/METADATA', about);
  bed.file('wheel/left-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  bed.file(
    'wheel/left-1.0.dist-info/RECORD',
    'left.py,,\nleft-1.0.dist-info/METADATA,,\nleft-1.0.dist-info/WHEEL,,\nleft-1.0.dist-info/RECORD,,\n',
  );
  const name = 'left-1.0-py3-none-any.whl';
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-c', name, 'left.py', 'left-1.0.dist-info'], { cwd: wheel });
  publish(`files.pythonhosted.org/p/${name}`, readFileSync(join(wheel, name)));
  publish('pypi.org/simple/left/index.html', `<a href="https://files.pythonhosted.org/p/${name}">${name}</a>`);
  const install =
    '/usr/bin/pip3 install -q --break-system-packages --cert ca.pem --target t left && PYTHONPATH=t /usr/bin/python3 -c "import left; print(left.word)"';
  const result = await run(install, preset('pypi'));
  expect(exitOf(result)).toBe(0);
  expect(result.output.stdout.head).toContain('left is here');
});

it.skipIf(!has('apt-get') || !isRoot)('apt-get updates and downloads through its preset', async () => {
  publish(
    'deb.debian.org/repo/Packages',
    'Package: left\nVersion: 1\nArchitecture: all\nFilename: ./left.deb\nSize: 4\nMD5sum: 811c7ed7e8b8a2f2b2a0c4d6a5c8a0c4\n\n',
  );
  const state =
    'mkdir -p a/lists/partial a/cache/archives/partial a/etc; echo "deb [trusted=yes] http://deb.debian.org/repo ./" > a/etc/list; touch a/status';
  const options =
    'Dir::State=$PWD/a Dir::State::status=$PWD/a/status Dir::Cache=$PWD/a/cache Dir::Etc::sourcelist=$PWD/a/etc/list Dir::Etc::sourceparts=- APT::Sandbox::User=';
  const apt = `apt-get ${options
    .split(' ')
    .map((option) => `-o ${option}`)
    .join(' ')}`;
  const result = await run(`${state}; ${apt} update && ${apt} --print-uris download left`, preset('debian'));
  expect(exitOf(result)).toBe(0);
  expect(result.output.combined.head).toContain("'http://deb.debian.org/repo/./left.deb'");
});

it.skipIf(!has('node'))('Node programs need no settings of their own', async () => {
  publish('www.example.com/file', 'a file');
  const result = await run(
    `NODE_EXTRA_CA_CERTS=$PWD/ca.pem node -e 'fetch("https://www.example.com/file").then((r) => r.text()).then(console.log)'`,
    hosts('www.example.com'),
  );
  const [major = 0] = (await run('node -p process.versions.node', hosts())).output.combined.head.split('.').map(Number);
  if (major >= 24) expect(result.output.combined.head).toBe('a file\n');
});
