import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, isRoot, makeBed } from '../containment/testing.ts';
import type { ExecutionConfig, Running } from '../core-types.ts';
import { createRunning } from '../running/index.ts';
import type { RunResult, RunSpec } from '../types.ts';
import { listen, makeWorld } from './testing.ts';
import { publishForApt, publishForCargo, publishForGo } from './testing-registries.ts';
import { makeSite, publishForNpm, publishForPip, type Site } from './testing-site.ts';

/** Programs as people use them, with a network that is a folder of files behind the right names. */
let bed: Bed;
let running: Running;
let ssh: Awaited<ReturnType<typeof listen>>;
let site: Site;
/** What clients said to the ssh server before it hung up. */
const greeted: string[] = [];
const has = (program: string): boolean => existsSync(`/usr/bin/${program}`);

beforeAll(async () => {
  bed = makeBed();
  const registries = ['registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org', 'deb.debian.org', 'index.crates.io', 'static.crates.io'];
  const names = ['www.example.com', 'git.example.com', ...registries, 'proxy.golang.org'];
  site = await makeSite({ folder: bed.folder('site'), ca: join(bed.workspace, 'ca.pem'), names });
  const world = makeWorld();
  for (const [place, port] of site.places) world.places.set(place, port);
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
  site.close();
  ssh.close();
  bed.remove();
});

async function run(command: string, network: NonNullable<RunSpec['network']>, config?: Partial<ExecutionConfig>): Promise<RunResult> {
  const spec = bed.spec({ command, network, timeout_ms: 60_000, git_config_write: true });
  const exec_id = newId('exec');
  const folder = bed.folder(`people/dev/.writ/${exec_id}`);
  const started = await running.start({ exec_id, spec, plan: await bed.plan(spec, config), folder, durable: false, logger: silentLogger });
  return started.done;
}
const hosts = (...named: readonly string[]): NonNullable<RunSpec['network']> => ({ hosts: named, presets: [] });
const preset = (name: string): NonNullable<RunSpec['network']> => ({ hosts: [], presets: [name] });
const exitOf = (result: RunResult): unknown => (result.outcome.state === 'exited' && result.outcome.exit_code === 0 ? 0 : result);

/** That it is there is not enough: a folder of root's can't be entered by everybody. */
function startsIn(folder: string, program: string): boolean {
  try {
    // Where rustup keeps what its programs start is told by the home of the account, which a test has not.
    const env = { HOME: userInfo().homedir, PATH: '/usr/bin:/bin' };
    execFileSync(join(folder, program), [program === 'go' ? 'version' : '--version'], { env, stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

it('curl and wget fetch over HTTPS, verified end to end', async () => {
  site.publish('www.example.com/file', 'a file');
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
  publishForNpm(site, bed.workspace);
  const install = 'npm_config_cafile=$PWD/ca.pem npm ci --no-audit && node -p "require(\'left\')"';
  const result = await run(install, preset('npm'));
  expect(exitOf(result)).toBe(0);
  expect(result.output.combined.head).toContain('left is here');
  expect(result.receipt?.network?.refused).toEqual([]);
});

it.skipIf(!has('pip3'))('pip installs through its preset', async () => {
  publishForPip(site, bed.folder('wheel'));
  const install =
    '/usr/bin/pip3 install -q --break-system-packages --cert ca.pem --target t left && PYTHONPATH=t /usr/bin/python3 -c "import left; print(left.word)"';
  const result = await run(install, preset('pypi'));
  expect(exitOf(result)).toBe(0);
  expect(result.output.stdout.head).toContain('left is here');
});

it.skipIf(!has('apt-get') || !has('dpkg-deb') || !isRoot)('apt-get updates and downloads through its preset', async () => {
  publishForApt(site, bed.folder('deb'));
  const state =
    'mkdir -p a/lists/partial a/cache/archives/partial a/etc; echo "deb [trusted=yes] http://deb.debian.org/repo ./" > a/etc/list; touch a/status';
  const options =
    'Dir::State=$PWD/a Dir::State::status=$PWD/a/status Dir::Cache=$PWD/a/cache Dir::Etc::sourcelist=$PWD/a/etc/list Dir::Etc::sourceparts=- APT::Sandbox::User=';
  const apt = `apt-get ${options
    .split(' ')
    .map((option) => `-o ${option}`)
    .join(' ')}`;
  const result = await run(
    `${state}; ${apt} update && ${apt} download left && dpkg-deb -x left_1.0_all.deb x && cat x/usr/share/left/word`,
    preset('debian'),
  );
  expect(exitOf(result)).toBe(0);
  expect(result.output.combined.head).toContain('left is here');
  expect(result.receipt?.network).toMatchObject({ allowed: [{ host: 'deb.debian.org', port: 80 }], refused: [] });
});

describe.each([
  ['cargo', 'crates', publishForCargo, 'CARGO_HTTP_CAINFO=$PWD/../ca.pem cargo run -q', ['index.crates.io', 'static.crates.io']],
  ['go', 'go', publishForGo, 'SSL_CERT_FILE=$PWD/../ca.pem GOFLAGS=-mod=mod go run .', ['proxy.golang.org']],
] as const)('%s', (program, word, publish, build, reached) => {
  const folder = (process.env['PATH'] ?? '').split(':').find((one) => startsIn(one, program));

  it.skipIf(folder === undefined)(
    'builds a program with what its preset brings',
    async () => {
      const project = bed.folder(`work/app/${program}`);
      publish(site, project);
      const host_env = { ...bed.config.host_env, PATH: `${folder}:${bed.config.host_env['PATH']}` };
      const result = await run(`cd ${program} && ${build}`, preset(word), { host_env });
      expect(exitOf(result)).toBe(0);
      expect(result.output.stdout.head).toContain('left is here');
      expect(result.receipt?.network?.refused).toEqual([]);
      expect(result.receipt?.network?.allowed.map(({ host }) => host).sort()).toEqual(reached);
    },
    60_000,
  );
});

it.skipIf(!has('node'))('Node programs need no settings of their own', async () => {
  site.publish('www.example.com/file', 'a file');
  const result = await run(
    `NODE_EXTRA_CA_CERTS=$PWD/ca.pem node -e 'fetch("https://www.example.com/file").then((r) => r.text()).then(console.log)'`,
    hosts('www.example.com'),
  );
  const [major = 0] = (await run('node -p process.versions.node', hosts())).output.combined.head.split('.').map(Number);
  if (major >= 24) expect(result.output.combined.head).toBe('a file\n');
});
