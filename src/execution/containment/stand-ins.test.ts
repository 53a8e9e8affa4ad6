import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunSpec } from '../types.ts';
import { prepareOpenings } from './prepare-openings.ts';
import type { PreparedOpenings } from './prepared-openings.ts';
import { endStandIns } from './stand-ins.ts';
import { type Bed, isRoot, makeBed } from './testing.ts';

let bed: Bed;
let outside: string;
let notes: string;
beforeEach(() => {
  bed = makeBed();
  outside = bed.folder('people/dev/documents');
  notes = bed.file(join(outside, 'notes.txt'), 'old\n');
  bed.file(join(outside, 'neighbour.txt'), 'untouched\n');
});
afterEach(() => bed.remove());

const writing = (...paths: readonly string[]): RunSpec['openings'] => paths.map((path) => ({ path, access: 'write' }));
const prepare = (openings: RunSpec['openings']): PreparedOpenings => prepareOpenings(bed.config, bed.spec({ openings }));

interface Ran {
  readonly text: string;
  /** What the run made, not yet brought out. */
  end(): readonly string[];
}

async function run(script: string, openings = writing(notes)): Promise<Ran> {
  const prepared = prepare(openings);
  const { stdout, stderr } = await bed.run(script, { openings: prepared.openings });
  return { text: stdout + stderr, end: () => prepared.clear(true) };
}

describe('a file that was opened for writing', () => {
  it('can be replaced, and nothing else of its folder is there or stays', async () => {
    const { text, end } = await run(`sed -i s/old/new/ ${notes} && ls -A ${outside} && echo x > ${outside}/neighbour.txt`);
    expect(text).toBe('notes.txt\n');
    expect(end()).toEqual([expect.stringContaining('made and not kept: neighbour.txt')]);
    expect([readFileSync(notes, 'utf8'), readFileSync(join(outside, 'neighbour.txt'), 'utf8')]).toEqual(['new\n', 'untouched\n']);
    expect(readdirSync(outside).sort()).toEqual(['neighbour.txt', 'notes.txt']);
    expect(end()).toEqual([]);
  });

  it('is the same file as long as it is written in place', async () => {
    const { ino } = statSync(notes);
    const { end } = await run(`echo more >> ${notes}`);
    expect(readFileSync(notes, 'utf8')).toBe('old\nmore\n');
    expect(end()).toEqual([]);
    expect(statSync(notes)).toMatchObject({ ino, nlink: 1 });
  });

  it('may be one of several, some of them new', async () => {
    const [fresh, unused] = [join(outside, 'fresh.txt'), join(outside, 'unused.txt')];
    const { text, end } = await run(
      `echo made > new && mv new ${fresh} && sed -i s/old/new/ ${notes} && ls ${outside}`,
      writing(notes, fresh, unused),
    );
    expect(text).toBe('fresh.txt\nnotes.txt\nunused.txt\n');
    expect(end()).toEqual([]);
    expect([readFileSync(fresh, 'utf8'), readFileSync(notes, 'utf8'), existsSync(unused)]).toEqual(['made\n', 'new\n', false]);
  });

  it('stays where it was when the run removes it, or puts a link there', async () => {
    const removed = await run(`rm ${notes}`);
    expect(removed.end()).toEqual([expect.stringContaining('is still there')]);
    const linked = await run(`ln -sf ${bed.user_home}/secret.txt ${notes}`);
    expect(linked.end()).toEqual([expect.stringContaining('is as it was')]);
    expect([lstatSync(notes).isFile(), readFileSync(notes, 'utf8')]).toEqual([true, 'old\n']);
  });

  it('is brought out by the next process when this one is killed, once', async () => {
    const prepared = prepare(writing(notes));
    await bed.run(`sed -i s/old/new/ ${notes}`, { openings: prepared.openings });
    const record = JSON.parse(JSON.stringify(prepared.stand_ins));
    expect([endStandIns(record), endStandIns(record)]).toEqual([[], []]);
    expect([readFileSync(notes, 'utf8'), readdirSync(outside).length]).toEqual(['new\n', 2]);
  });

  it('takes what a run leaves locked, or as links, and nothing that these lead to', async () => {
    const elsewhere = bed.file('elsewhere/kept.txt');
    const script = `cd ${outside} && mkdir -p deep/er && ln -s ${dirname(elsewhere)} deep/link && ln -s ${elsewhere} link && chmod 0 deep/er deep .`;
    const { end } = await run(script);
    expect(end()).toEqual([expect.stringContaining('not kept: deep, link')]);
    expect(existsSync(elsewhere)).toBe(true);
    expect(readdirSync(outside).sort()).toEqual(['neighbour.txt', 'notes.txt']);
  });
});

describe('a path that is a link', () => {
  it('is opened where what it leads to is opened too, by both names', async () => {
    const link = join(bed.user_home, '.notes');
    symlinkSync(notes, link);
    const { text, end } = await run(`echo more >> ${link} && cat ${link} ${notes}`, writing(link, notes));
    expect([text, end()]).toEqual(['old\nmore\nold\nmore\n', []]);
    expect([readFileSync(notes, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['old\nmore\n', true]);
    const through = join(bed.user_home, 'by-link');
    symlinkSync(outside, through);
    const fresh = await run(`echo x > ${through}/new.txt`, writing(join(through, 'new.txt'), join(outside, 'new.txt')));
    expect([fresh.text, fresh.end(), readFileSync(join(outside, 'new.txt'), 'utf8')]).toEqual(['', [], 'x\n']);
  });

  it('is refused where that was not, or only for reading', async () => {
    const link = join(bed.user_home, '.notes');
    symlinkSync(notes, link);
    await expect(run('true', writing(link))).rejects.toThrow('it is a link to');
    await expect(run('true', [...writing(link), { path: notes, access: 'read' }])).rejects.toThrow('it is a link to');
  });
});

describe('nothing stands in', () => {
  const through = (openings: RunSpec['openings']): boolean => {
    const prepared = prepare(openings);
    prepared.clear();
    return prepared.openings.some((opening) => opening.through !== undefined);
  };

  it('for HOME, the system, a Workspace, or what is open itself', () => {
    const home = bed.file(join(bed.user_home, '.profile'));
    const inside = bed.file(join(bed.workspace, '.vscode/tasks.json'));
    expect(through(writing(notes))).toBe(true);
    for (const openings of [writing(home), writing('/etc/hosts'), writing(inside), writing(notes, outside)])
      expect(through(openings)).toBe(false);
    expect(through([{ path: notes, access: 'read' }])).toBe(false);
  });

  it('where the user of the run could not do it outside', () => {
    chmodSync(outside, 0o1777);
    expect(through(writing(notes))).toBe(false);
    chmodSync(outside, 0o555);
    expect(through(writing(notes))).toBe(false);
    chmodSync(outside, 0o755);
  });

  it('where the private home has something of its own', async () => {
    await bed.run(`mkdir -p ${outside} && echo mine > ${outside}/own.txt`);
    expect(through(writing(notes))).toBe(false);
    const { text } = await run(`cat ${outside}/own.txt && echo more >> ${notes}`);
    expect([text, readFileSync(notes, 'utf8')]).toEqual(['mine\n', 'old\nmore\n']);
  });
});

it.skipIf(!isRoot)('belongs to whoever the run is', async () => {
  bed.give(bed.workspace, 4242);
  bed.give(outside, 4242);
  chmodSync(bed.user_home, 0o711);
  const { text, end } = await run(`sed -i s/old/new/ ${notes}`);
  expect([text, end()]).toEqual(['', []]);
  expect([readFileSync(notes, 'utf8'), statSync(notes).uid]).toEqual(['new\n', 4242]);
});
