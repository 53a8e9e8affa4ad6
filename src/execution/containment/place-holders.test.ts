import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunSpec } from '../types.ts';
import { type PlaceHolders, placeMissing } from './place-holders.ts';
import { type Bed, isRoot, makeBed } from './testing.ts';

let bed: Bed;
let outside: string;
beforeEach(() => {
  bed = makeBed();
  outside = bed.folder('outside');
});
afterEach(() => bed.remove());

type Openings = RunSpec['openings'];
const writing = (path: string, make?: 'file' | 'folder'): Openings => [{ path, access: 'write', ...(make ? { make } : {}) }];
const place = (openings: Openings): PlaceHolders =>
  placeMissing(openings, { writ_home: bed.config.home, user_home: bed.user_home }, undefined);

describe('a path that was opened for writing and is not there yet', () => {
  it('can be written by the run, and stays', async () => {
    const path = join(outside, 'new.txt');
    const placed = place(writing(path));
    await bed.run(`echo new > ${path}; echo more >> ${path}; echo no > ${outside}/other`, { openings: writing(path) });
    placed.clear();
    expect(readFileSync(path, 'utf8')).toBe('new\nmore\n');
    expect(existsSync(join(outside, 'other'))).toBe(false);
  });

  it('is gone again when the run has left it alone, even if it read it', async () => {
    const path = join(outside, 'new.txt');
    const placed = place(writing(path));
    await bed.run(`cat ${path}`, { openings: writing(path) });
    expect(existsSync(path)).toBe(true);
    placed.clear();
    placed.clear();
    expect(existsSync(path)).toBe(false);
  });

  it('may be a folder', async () => {
    const path = join(outside, 'made');
    const placed = place(writing(path, 'folder'));
    await bed.run(`mkdir -p ${path}/deep && echo in > ${path}/deep/file`, { openings: writing(path, 'folder') });
    placed.clear();
    expect(readFileSync(join(path, 'deep/file'), 'utf8')).toBe('in\n');
    const again = place(writing(join(outside, 'empty'), 'folder'));
    again.clear();
    expect(existsSync(join(outside, 'empty'))).toBe(false);
    const wanted = place([...writing(join(outside, 'empty'), 'folder'), ...writing(join(outside, 'file'))]);
    wanted.clear(true);
    expect([existsSync(join(outside, 'empty')), existsSync(join(outside, 'file'))]).toEqual([true, false]);
  });

  it('stays when it was touched, or replaced by something else', () => {
    const [touched, replaced] = [join(outside, 'touched'), join(outside, 'replaced')];
    const placed = place([...writing(touched), ...writing(replaced)]);
    utimesSync(touched, 1, 1);
    rmSync(replaced);
    writeFileSync(replaced, '');
    placed.clear();
    expect([existsSync(touched), existsSync(replaced)]).toEqual([true, true]);
  });

  it('is left as it is when it exists, and not made for reading', () => {
    const path = bed.file('outside/there', 'kept');
    place([...writing(path), { path: join(outside, 'read-me'), access: 'read' }]).clear();
    expect(readFileSync(path, 'utf8')).toBe('kept');
    expect(existsSync(join(outside, 'read-me'))).toBe(false);
  });

  it('is not made through a link, in a folder that is not there, or for a path that is never opened', () => {
    symlinkSync(outside, join(bed.base, 'link'));
    expect(() => place([...writing(join(outside, 'first')), ...writing(join(bed.base, 'link/new'))])).toThrow(/reached through a link/);
    // What was made before the refusal is taken back.
    expect(existsSync(join(outside, 'first'))).toBe(false);
    expect(() => place(writing(join(outside, 'none/new')))).toThrow(/neither it nor its folder exists/);
    place(writing(join(bed.config.home, 'policy.json')));
    expect(existsSync(join(bed.config.home, 'policy.json'))).toBe(false);
    mkdirSync(join(outside, 'dangling'));
    symlinkSync('/nowhere', join(outside, 'dangling/link'));
    place(writing(join(outside, 'dangling/link')));
    expect(existsSync('/nowhere')).toBe(false);
  });

  it.skipIf(!isRoot)('belongs to the user that the run is', () => {
    const path = join(outside, 'theirs');
    placeMissing(writing(path), { writ_home: bed.config.home, user_home: bed.user_home }, { uid: 65534, gid: 65534 });
    expect(statSync(path)).toMatchObject({ uid: 65534, gid: 65534, size: 0 });
  });
});
