import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const { default: config } = (await import(join(root, '.dependency-cruiser.mjs'))) as {
  default: { forbidden: readonly { name: string }[] };
};

/** One planted violation for every rule: a file and what it says. A `layer-ROOM` rule gets one from that room to the room below it. */
const PLANTS: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  'execution-uses-kernel-only': {
    file: 'src/execution/planted.ts',
    text: "import type { Thing } from '../store/types.ts';\nexport type X = Thing;\n",
  },
  'policy-uses-kernel-only': {
    file: 'src/policy/planted.ts',
    text: "import type { Thing } from '../audit/types.ts';\nexport type X = Thing;\n",
  },
  'only-execution-starts-processes': { file: 'src/tools/planted.ts', text: "export { spawn } from 'node:child_process';\n" },
  'only-store-touches-a-database': { file: 'src/audit/planted.ts', text: "export { DatabaseSync } from 'node:sqlite';\n" },
  'rooms-are-entered-by-their-index': { file: 'src/cli/planted.ts', text: "export { inside } from '../policy/inside.ts';\n" },
  'no-circular': { file: 'src/gate/planted.ts', text: "export { back } from './round.ts';\n" },
};
/** Rules that forbid more than one thing: each needs its own proof. */
const MORE_PLANTS = [
  { rule: 'only-execution-starts-processes', file: 'src/mcp/planted-pty.ts', text: "export { spawn } from '@lydell/node-pty';\n" },
  { rule: 'only-execution-starts-processes', file: 'src/main/planted-bare.ts', text: "export { spawn } from 'child_process';\n" },
  { rule: 'only-store-touches-a-database', file: 'src/gate/planted-kysely.ts', text: "export { Kysely } from 'kysely';\n" },
  {
    rule: 'only-store-touches-a-database',
    file: 'src/cli/planted-types.ts',
    text: "import type { Kysely } from 'kysely';\nexport type X = Kysely<object>;\n",
  },
  {
    rule: 'rooms-are-entered-by-their-index',
    file: 'src/cli/planted-lazy.ts',
    text: "export const lazy = () => import('../policy/inside.ts');\n",
  },
];
/** What the plants point at, and two files that break nothing. */
const GROUND = {
  'src/policy/inside.ts': 'export const inside = 1;\n',
  // A cycle is reported once, at the first of its files.
  'src/gate/round.ts': "import { planted } from './planted.ts';\nexport const back = planted;\n",
  'src/execution/innocent.ts':
    "import { spawn } from 'node:child_process';\nimport type { Thing } from '../kernel/types.ts';\nexport const x: Thing = spawn;\n",
  'src/cli/innocent.ts': "import type { Thing } from '../policy/types.ts';\nexport type X = Thing;\n",
};

const rooms = config.forbidden.map(({ name }) => name.match(/^layer-(.*)$/)?.[1] ?? '').filter((room) => room !== '');
const layerPlants = rooms.slice(0, -1).map((room, index) => ({
  rule: `layer-${room}`,
  file: `src/${room}/planted-layer.ts`,
  text: `import type { Thing } from '../${rooms[index + 1]}/types.ts';\nexport type X = Thing;\n`,
}));
const plants = [...Object.entries(PLANTS).map(([rule, plant]) => ({ rule, ...plant })), ...MORE_PLANTS, ...layerPlants];

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}
let violations: readonly Violation[] = [];
const folder = mkdtempSync(join(tmpdir(), 'writ-layers-'));

beforeAll(async () => {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const room of rooms) write(`src/${room}/types.ts`, 'export type Thing = unknown;\n');
  for (const [file, text] of Object.entries(GROUND)) write(file, text);
  for (const { file, text } of plants) write(file, text);
  for (const file of ['.dependency-cruiser.mjs', 'tsconfig.json', 'package.json']) copyFileSync(join(root, file), join(folder, file));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const argv = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'];
  const depcruise = join(root, 'node_modules', '.bin', 'depcruise');
  const { stdout } = await promisify(execFile)(depcruise, argv, { cwd: folder, maxBuffer: 32 << 20 });
  violations = (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every rule has a planted violation', () => {
  // `main` is the last room: there is nothing below it to import.
  const planted = new Set([...plants.map(({ rule }) => rule), 'layer-main']);
  expect(config.forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
});

test.each(plants)('$rule sees $file', ({ rule, file }) => {
  expect(violations.filter(({ from }) => from === file).map((violation) => violation.rule.name)).toContain(rule);
});

test('what keeps to the rules is not reported', () => {
  expect(violations.filter(({ from }) => from.endsWith('innocent.ts'))).toEqual([]);
});
