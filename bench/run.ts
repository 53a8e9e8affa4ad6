import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Row } from './row.ts';
import { shellTrue } from './shell-true.ts';
import { startup } from './startup.ts';

/** `npm run bench`: the rows one after another into bench/results.md. Ratios of one run, never a test. */
const ROWS: readonly ((workspace: string, home: string) => Promise<Row>)[] = [startup, shellTrue];

const root = resolve(import.meta.dirname, '..');
if (!existsSync(join(root, 'dist', 'cli.js'))) throw new Error('Build first: npm run build');
const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
const workspace = mkdtempSync(join(folder, 'workspace-'));
const rows: Row[] = [];
try {
  for (const measure of ROWS) {
    const row = await measure(workspace, join(folder, 'home'));
    rows.push(row);
    console.log(line(row));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
writeFileSync(join(root, 'bench', 'results.md'), page());

function line({ what, against, ours, floor, target, rounds }: Row): string {
  const ratio = ours / floor;
  const verdict = target === undefined ? '' : ratio <= target ? `at most ${target}: met` : `at most ${target}: **missed**`;
  return `| ${what} | ${against} | ${ours.toFixed(1)} | ${floor.toFixed(1)} | ${ratio.toFixed(2)} | ${verdict} | ${rounds} |`;
}

function page(): string {
  const machine = `${new Date().toISOString().slice(0, 10)}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, Node ${process.versions.node}`;
  const head = '| what | against | ours, ms | floor, ms | ratio | target | rounds |\n| --- | --- | --- | --- | --- | --- | --- |';
  return `# Benchmarks\n\n${machine}. Medians; ours and the floor are measured in turn in one run, so the ratio is what counts.\n\n${head}\n${rows.map(line).join('\n')}\n`;
}
