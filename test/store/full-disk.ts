/**
 * Runs on a small file system: fills it, and prints one JSON line per step. `node full-disk.ts FOLDER`.
 */
import { readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStore, databaseFile } from '../../src/store/index.ts';
import { type TestWrites, testWrites } from './writer-thread.ts';

const MiB = 1024 * 1024;
const folder = process.argv[2] ?? '';
const home = join(folder, 'home');
const store = createStore<TestWrites>({
  file: databaseFile(home),
  entry: new URL('./writer-thread.ts', import.meta.url),
  reserve: 4 * MiB,
  here: testWrites,
});
const reserve = join(home, 'disk-reserve');
let next = 0;

async function attempt(essential: boolean, bytes = 100_000): Promise<string> {
  next += 1;
  try {
    await store.write('test.big', { seq: next, bytes }, { level: 'normal', essential });
    return 'stored';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const say = (step: string, seen: unknown): void => void process.stdout.write(`${JSON.stringify([step, seen])}\n`);

say('first', await attempt(false));
await until(() => (statSync(reserve, { throwIfNoEntry: false })?.size ?? 0) >= 4 * MiB);
say('reserve', statSync(reserve).size);

// Something else takes all the rest of the disk.
const { bavail, bsize } = statfsSync(folder);
writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize));
// The log has room that was used before; it takes a few rows to run out of it.
const ordinary: string[] = [];
while (ordinary.at(-1) !== 'disk_full' && ordinary.length < 200) ordinary.push(await attempt(false));
say('ordinary', ordinary.at(-1));
say('essential', await attempt(true));
say('ordinary again', await attempt(false));
say('spent', statSync(reserve).size);

rmSync(join(folder, 'ballast'));
await until(() => (statSync(reserve, { throwIfNoEntry: false })?.size ?? 0) >= 4 * MiB);
say('with room again', await attempt(false));
await store.close();
say('files', readdirSync(home).toSorted());
