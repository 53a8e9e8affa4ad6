import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/kernel/errors.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = [...readdirSync(root).filter((name) => name.endsWith('.md')), ...globSync('docs/**/*.md', { cwd: root })];

test.each(pages)('the links of %s lead somewhere', (page) => {
  const targets = [...read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target ?? '');
  const local = targets.filter((target) => !/^https?:/.test(target));
  expect(local.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});

test('the places that AGENTS.md names exist', () => {
  const places = [...read('AGENTS.md').matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+|\.[\w-]+\.mjs)`/g)].map(([, place]) => place ?? '');
  expect(places.length).toBeGreaterThan(10);
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([]);
});

test('what a row of AGENTS.md calls by its name alone lies beside what it names in full', () => {
  const rows = read('AGENTS.md').split('\n');
  const alone = rows.flatMap((row) => {
    const places = [...row.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g)].map(([, place]) => place ?? '');
    const beside = places.flatMap((place) => [place, dirname(place)]);
    const names = [...row.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name ?? '');
    return names
      .filter(() => beside.length > 0)
      .map((name) => ({ name, there: beside.some((place) => existsSync(join(root, place, name))) }));
  });
  expect(alone.length).toBeGreaterThan(5);
  expect(alone.filter(({ there }) => !there)).toEqual([]);
});

test('every room is in the map, and every page of the guide and the reference in the index', () => {
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  expect(rooms.filter((room) => !read('AGENTS.md').includes(`| \`src/${room}/\` |`))).toEqual([]);
  const written = globSync('{guide,reference}/*.md', { cwd: join(root, 'docs') });
  expect(written.length).toBeGreaterThan(10);
  expect(written.filter((page) => !read('docs/README.md').includes(`](${page})`))).toEqual([]);
});

test('no two decisions have one number', () => {
  const numbers = readdirSync(join(root, 'docs/decisions')).map((name) => name.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

test('the table of error codes is that of the code', () => {
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  const rows = Object.entries(ERRORS).map(
    ([code, { exit, http, retryable, fixable, guidance }]) =>
      `| \`${code}\` | ${exit} | ${http} | ${yes(retryable)} | ${yes(fixable)} | ${guidance} |`,
  );
  const written = read('docs/reference/errors.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(written).toEqual(rows);
});

test('every dependency is explained', () => {
  const { devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const peers = JSON.parse(read('test/peers/package.json')) as { dependencies: Record<string, string> };
  const text = read('docs/decisions/0002-dependencies.md');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|')[1] ?? '');
  const explained = new Set(rows.flatMap((row) => row.split(',').map((name) => name.trim())));
  expect(
    Object.keys({ ...devDependencies, ...optionalDependencies, ...peers.dependencies }).filter((name) => !explained.has(name)),
  ).toEqual([]);
});
