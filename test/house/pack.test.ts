import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// npm test has built dist/ before; alone: npm run build.
const root = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  dependencies?: object;
  optionalDependencies?: object;
};
const folder = mkdtempSync(join(tmpdir(), 'writ-pack-'));
const prefix = join(folder, 'prefix');
const home = join(folder, 'home');
const installed = join(prefix, 'lib', 'node_modules', 'writ');
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}
let files: readonly string[] = [];

/** npm as npm test found it, with the Node that runs this. */
function npm(...args: string[]): string {
  const cli = process.env['npm_execpath'];
  const argv = cli === undefined ? ['npm'] : [process.execPath, cli];
  return execFileSync(argv[0] ?? 'npm', [...argv.slice(1), ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The installed program with nothing around it but this Node. */
function writ(args: readonly string[], flags: readonly string[] = []): { code: number | null; out: string; err: string } {
  const argv = [...flags, join(prefix, 'bin', 'writ'), ...args];
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, WRIT_HOME: home };
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: folder, env, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

beforeAll(() => {
  // npm 10 and 11 answer with a list, npm 12 with an object by package name.
  const answer = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder)) as Record<string, Packed>;
  const [packed] = Object.values(answer);
  if (packed === undefined) throw new Error('npm pack made nothing');
  files = packed.files.map(({ path }) => path);
  mkdirSync(prefix);
  npm(
    'install',
    '--global',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    join(folder, packed.filename),
  );
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package holds the programs, their texts and nothing else', () => {
  const programs = readdirSync(join(root, 'src', 'main'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `dist/${basename(name, '.ts')}.js`);
  const expected = ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/writ.mjs', 'dist/THIRD-PARTY-LICENSES.txt', 'package.json', ...programs];
  expect(files.filter((file) => !/^dist\/part-[\w-]+\.js$/.test(file)).sort()).toEqual(expected.sort());
});

test('no file of it knows the machine it was built on', () => {
  const leaks = files.filter(
    (file) =>
      /sourceMappingURL=/.test(readFileSync(join(installed, file), 'utf8')) || readFileSync(join(installed, file), 'utf8').includes(root),
  );
  expect(leaks).toEqual([]);
});

test('it installs with install scripts off and brings at most its optional packages', () => {
  expect(manifest.dependencies).toBeUndefined();
  const brought = existsSync(join(installed, 'node_modules'))
    ? readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))
    : [];
  const optional = new Set(Object.keys(manifest.optionalDependencies ?? {}).map((name) => name.split('/')[0]));
  expect(brought.filter((name) => !optional.has(name))).toEqual([]);
});

test('the installed program says its version', () => {
  expect(writ(['--version'])).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
});

test('the installed program assesses a command', () => {
  const { code, out, err } = writ(['check', '--json', '--', 'ls -la']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toMatchObject({ verdict: 'allow' });
});

test('an old Node gets one clear message', () => {
  const pretend = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})';
  const { code, out, err } = writ(['--version'], ['--import', pretend]);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^writ: needs Node\.js 24 or newer, this is 20\.20\.2/);
});
