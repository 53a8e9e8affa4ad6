import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '../../src/kernel/errors.ts';
import { recordedArguments } from '../../src/tools/files/recorded-arguments.ts';
import { type FilesPlace, makeFilesPlace, reasonOf } from './files-place.ts';

const asRoot = process.getuid?.() === 0;
let place: FilesPlace;
beforeEach(() => {
  place = makeFilesPlace();
});
afterEach(() => place.remove());

const at = (name: string): string => join(place.workspace, name);
const read = async (args: Record<string, unknown>) => (await place.call('read_file', args)).structured;
const write = (path: string, content: string) => place.call('write_file', { path, content });

describe('read_file', () => {
  test('pages by lines, and says what is left', async () => {
    place.fill({ 'n.txt': Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join('') });
    const first = await read({ path: 'n.txt' });
    expect(first).toMatchObject({ first_line: 1, total_lines: 5000, truncated: true });
    const next = first['next_offset'] as number;
    expect(first['content']).toMatch(new RegExp(`\t?line ${next - 1}$`));
    const rest = await read({ path: 'n.txt', offset: next, limit: 5000 });
    expect(rest).toMatchObject({ first_line: next, last_line: 5000, truncated: false, next_offset: null });
    expect(await read({ path: 'n.txt', offset: 4000, limit: 2 })).toMatchObject({
      content: '  4000\tline 4000\n  4001\tline 4001',
      next_offset: 4002,
    });
    expect(await read({ path: 'n.txt', offset: 9000 })).toMatchObject({ content: '', total_lines: 5000, truncated: false });
  });

  test('a line that is too long is cut and counted', async () => {
    place.fill({ 'min.js': `a\n${'x'.repeat(2_000_000)}\nb\n` });
    expect(await read({ path: 'min.js' })).toMatchObject({ content: '     1\ta', next_offset: 2 });
    const long = await read({ path: 'min.js', offset: 2 });
    expect(long['content']).toMatch(/ \[\.\.\. 19880\d\d characters of this line left out \.\.\.\]$/);
    expect(long).toMatchObject({ truncated: true, next_offset: 3 });
  });

  test('a file too large to be held is paged all the same', async () => {
    const line = `${'y'.repeat(99)}\n`;
    place.fill({ 'big.log': line.repeat(100_000) });
    const page = await read({ path: 'big.log', offset: 99_999 });
    expect(page).toMatchObject({
      total_lines: 100_000,
      first_line: 99_999,
      last_line: 100_000,
      next_offset: null,
      total_bytes: 10_000_000,
    });
    expect(await read({ path: 'big.log', offset: 50_000, limit: 100_000 })).toMatchObject({ first_line: 50_000, truncated: true });
  });

  test('tells text, images, folders and binaries apart', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    place.fill({
      'ja.txt': '日本語のテキスト、ひらがな\n',
      'ru.txt': 'Съешь же ещё этих мягких французских булок\n',
      'bom.txt': '\ufeffhello\r\nworld\r\n',
      'wide.txt': Buffer.from('\ufeffwide ünïcode\n', 'utf16le'),
      'blind.txt': Buffer.from('no mark here at all\n', 'utf16le'),
      'latin.txt': Buffer.from('un caf\u00e9 pr\u00e8s de la gare, et du texte\n', 'latin1'),
      'x.png': png,
      'x.bin': Buffer.from([1, 2, 3, 0, 4, 5]),
      'empty.txt': '',
      'd/x': '',
    });
    expect(await read({ path: 'ja.txt' })).toMatchObject({ content: '     1\t日本語のテキスト、ひらがな', encoding: 'utf-8' });
    expect(await read({ path: 'ru.txt' })).toMatchObject({ encoding: 'utf-8' });
    expect(await read({ path: 'bom.txt' })).toMatchObject({
      content: '     1\thello\n     2\tworld',
      encoding: 'utf-8-bom',
      line_endings: 'crlf',
    });
    expect(await read({ path: 'wide.txt' })).toMatchObject({ content: '     1\twide ünïcode', encoding: 'utf-16le' });
    expect(await read({ path: 'latin.txt' })).toMatchObject({ encoding: 'other-8-bit' });
    expect(await read({ path: 'empty.txt' })).toMatchObject({ content: '', total_lines: 0, notes: ['the file is empty'] });
    const image = await place.call('read_file', { path: 'x.png' });
    expect(image.images).toEqual([{ mime_type: 'image/png', data: png.toString('base64') }]);
    expect(image.structured).toMatchObject({ type: 'image', mime_type: 'image/png' });
    expect(await reasonOf(read({ path: 'x.bin' }))).toBe('binary');
    await expect(read({ path: 'blind.txt' })).rejects.toThrow(/UTF-16LE/);
    expect(await reasonOf(read({ path: 'd' }))).toBe('folder');
    expect(await reasonOf(read({ path: 'nowhere' }))).toBe('not_found');
    expect(await reasonOf(read({ path: 'ja.txt/x' }))).toBe('not_found');
    expect(await reasonOf(read({ path: 'x', offset: 0 }))).toBe('bad_args');
    expect(await reasonOf(read({ path: 'x\0y' }))).toBe('bad_args');
  });

  test('a pipe, a socket or a device is refused at once and not opened', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(await reasonOf(read({ path: 'pipe' }))).toBe('not_a_file');
    expect(await reasonOf(write('pipe', 'x'))).toBe('not_a_file');
    if (asRoot) {
      execFileSync('mknod', [at('null'), 'c', '1', '3']);
      expect(await reasonOf(read({ path: 'null' }))).toBe('not_a_file');
    }
  });
});

describe('what is where', () => {
  test('a link that a run left where a Workspace is mounted in HOME leads nowhere', async () => {
    place.remove();
    place = makeFilesPlace({ inHome: true });
    place.fill({ 'a.txt': 'real\n' });
    await write('~/.cache/evil/work/a.txt', 'planted\n');
    const [folder = ''] = readdirSync(join(place.writ_home, 'private'));
    symlinkSync('.cache/evil', join(place.writ_home, 'private', folder, 'home', 'code'));
    expect(await read({ path: '~/code/work/a.txt' })).toMatchObject({ path: at('a.txt'), content: '     1\treal' });
  });

  test('links lead where they would lead a run', async () => {
    place.fill({ 'src/a.txt': 'a\n', 'b.txt': 'b\n' });
    symlinkSync('src', at('in'));
    symlinkSync('/tmp/note', at('tmp'));
    symlinkSync(join(place.home, 'private'), at('out'));
    symlinkSync('loop', at('loop'));
    writeFileSync(join(place.home, 'private'), 'of the person\n');
    expect(await read({ path: 'in/a.txt' })).toMatchObject({ path: at('src/a.txt') });
    expect(await read({ path: 'in/../b.txt' })).toMatchObject({ path: at('b.txt') });
    await write('tmp', 'in the private /tmp\n');
    expect(existsSync('/tmp/note')).toBe(false);
    expect(await read({ path: '/var/tmp/note' })).toMatchObject({ path: '/tmp/note', content: '     1\tin the private /tmp' });
    expect(await reasonOf(read({ path: 'out' }))).toBe('asked');
    expect(await reasonOf(read({ path: 'loop' }))).toBe('not_found');
    expect(lstatSync(at('tmp')).isSymbolicLink()).toBe(true);
  });

  test('HOME is the private one, unless a yes opens a file of the person', async () => {
    mkdirSync(join(place.home, '.ssh'));
    writeFileSync(join(place.home, '.ssh/id_ed25519'), 'key\n');
    writeFileSync(join(place.home, 'notes.txt'), 'notes\n');
    await write('~/.cache/x', 'cached\n');
    expect(existsSync(join(place.home, '.cache'))).toBe(false);
    expect(await read({ path: '~/.cache/x' })).toMatchObject({ content: '     1\tcached', path: join(place.home, '.cache/x') });
    for (const path of ['~/.ssh/id_ed25519', '~/notes.txt', '~/.ssh/../.ssh/id_ed25519']) {
      expect(await reasonOf(read({ path }))).toBe('asked');
      expect((await place.call('read_file', { path }, { yes: true })).structured['total_lines']).toBe(1);
    }
    expect(await place.decide('read_file', { path: '~/.ssh/id_ed25519' })).toMatchObject({
      effects: ['credential_access'],
      opens: [{ type: 'path', path: join(place.home, '.ssh/id_ed25519'), access: 'read' }],
    });
    expect(await reasonOf(write('~/notes.txt', 'x'))).toBe('asked');
    await place.call('write_file', { path: '~/notes.txt', content: 'new\n' }, { yes: true });
    expect(readFileSync(join(place.home, 'notes.txt'), 'utf8')).toBe('new\n');
    await place.call('write_file', { path: '~/fresh.txt', content: 'made\n' }, { yes: true });
    expect(readFileSync(join(place.home, 'fresh.txt'), 'utf8')).toBe('made\n');
    // A yes opens that path, and nothing is made on the way to it.
    expect(await reasonOf(place.call('write_file', { path: '~/no/such/folder', content: '' }, { yes: true }))).toBe('not_found');
    expect(existsSync(join(place.home, 'no'))).toBe(false);
  });

  test('secrets of the Workspace are asked for, by every name', async () => {
    place.fill({ '.env': 'A=b\n', 'keys/server.key': 'x\n' });
    symlinkSync('.env', at('plain.txt'));
    for (const path of ['.env', './/.env', 'plain.txt', 'keys/server.key', at('.env')]) {
      expect(await place.decide('read_file', { path })).toMatchObject({ verdict: 'prompt', effects: ['credential_access'] });
    }
    expect(await place.decide('patch', { path: '.env', old_string: 'b', new_string: 'c' })).toMatchObject({ verdict: 'prompt' });
    await place.call('patch', { path: '.env', old_string: 'b', new_string: 'c' }, { yes: true });
    expect(readFileSync(at('.env'), 'utf8')).toBe('A=c\n');
  });

  test('a link that leads elsewhere after the decision is refused', async () => {
    place.fill({ 'a.txt': 'a\n', '.env': 'SECRET=1\n' });
    symlinkSync('a.txt', at('link'));
    const swap = (): void => {
      execFileSync('ln', ['-sfn', '.env', at('link')]);
    };
    expect(await reasonOf(place.call('read_file', { path: 'link' }, { meanwhile: swap }))).toBe('changed');
  });

  test('a Workspace for reading is not written', async () => {
    place.remove();
    place = makeFilesPlace({ access: 'read' });
    place.fill({ 'a.txt': 'a\n' });
    expect(await read({ path: 'a.txt' })).toMatchObject({ total_lines: 1 });
    expect(await reasonOf(write('a.txt', 'b'))).not.toBe('done');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('a\n');
  });
});

describe('protected paths', () => {
  const PROTECTED = [
    '.git/hooks/pre-commit',
    '.git/config',
    'sub/.git/hooks/post-checkout',
    'fresh/.git/config',
    '.claude/settings.json',
    '.mcp.json',
    '.vscode/tasks.json',
    'writ.json',
    'sub/.mcp.json',
    'sub/deeper/.vscode/tasks.json',
    'kept/.claude/settings.json',
    'in/settings.json',
  ];

  test.each(PROTECTED)('%s is asked for as persistence, and protected whatever was decided', async (path) => {
    place.fill({
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/config': '[core]\n',
      'sub/.git/HEAD': 'ref: x\n',
      '.claude/x': '',
      'kept/.claude/x': '',
    });
    symlinkSync('.claude', at('in'));
    const decision = await place.decide('write_file', { path, content: 'x' });
    if (decision instanceof AppError) throw decision;
    expect(decision.effects).toContain('persistence');
    // As if an operator had set the class to allow: nothing is opened.
    const allowed = { ...decision, verdict: 'allow' as const, opens: [] };
    expect(await reasonOf(place.call('write_file', { path, content: 'x' }, { decision: allowed }))).toBe('protected');
    await place.call('write_file', { path, content: 'x' }, { yes: true }).catch((thrown: unknown) => {
      // Its folder may be missing; a yes makes no others.
      expect(thrown).toMatchObject({ data: { reason: 'not_found' } });
    });
  });

  test('no repository is put together file by file', async () => {
    await write('bare/objects/x', '');
    await write('bare/refs/x', '');
    await write('bare/config', '[core]\n\tfsmonitor = evil\n');
    expect(await reasonOf(write('bare/HEAD', 'ref: refs/heads/main\n'))).toBe('protected');
    expect(existsSync(at('bare/HEAD'))).toBe(false);
  });
});

describe('write_file', () => {
  test('keeps the mode, makes folders, leaves nothing else behind', async () => {
    place.fill({ 'run.sh': '#!/bin/sh\n' });
    chmodSync(at('run.sh'), 0o4755);
    await write('run.sh', '#!/bin/bash\n');
    expect(statSync(at('run.sh')).mode & 0o7777).toBe(0o755);
    await write('a/b/c.txt', 'x');
    expect(statSync(at('a/b/c.txt')).mode & 0o777).toBe(0o644);
    expect(readdirSync(at('a/b'))).toEqual(['c.txt']);
    expect(await reasonOf(write('a', 'x'))).toBe('folder');
    expect(await reasonOf(write('run.sh/x', 'x'))).toBe('not_found');
    expect(await reasonOf(write('x'.repeat(300), 'x'))).toBe('not_found');
  });

  test('what no file can be or hold is told by the argument', async () => {
    for (const path of ['a/', 'a/.', 'a/..', '..', '~/']) await expect(write(path, 'x')).rejects.toThrow(/names a folder/);
    expect(await reasonOf(write('x.txt', 'half \ud800'))).toBe('bad_args');
    expect(await reasonOf(write('half \ud800', 'x'))).toBe('bad_args');
    expect(await reasonOf(write('big.txt', 'x'.repeat(1024 * 1024 + 1)))).toBe('bad_args');
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test('long contents are in the record by their digest', () => {
    const recorded = recordedArguments({ path: 'a', edits: [{ old_string: 'x'.repeat(3000), new_string: 'y' }], content: null }) as object;
    expect(recorded).toEqual({
      path: 'a',
      edits: [{ old_string: { bytes: 3000, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }, new_string: 'y' }],
      content: null,
    });
  });

  test('a write-protected file stays', async () => {
    place.fill({ 'fixed.txt': 'fixed\n' });
    chmodSync(at('fixed.txt'), 0o444);
    expect(await reasonOf(write('fixed.txt', 'x'))).toBe('permission');
    expect(readFileSync(at('fixed.txt'), 'utf8')).toBe('fixed\n');
  });

  test('a hard link elsewhere keeps the old content', async () => {
    place.fill({ 'a.txt': 'old\n' });
    linkSync(at('a.txt'), join(place.home, 'other'));
    await write('a.txt', 'new\n');
    expect(readFileSync(join(place.home, 'other'), 'utf8')).toBe('old\n');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('new\n');
  });

  test('through a link its target is written, also one that is only made by that', async () => {
    place.fill({ 'real.txt': 'a\n' });
    symlinkSync('real.txt', at('link.txt'));
    symlinkSync('made/later.txt', at('dangling'));
    await write('link.txt', 'b\n');
    await write('dangling', 'c\n');
    expect(readFileSync(at('real.txt'), 'utf8')).toBe('b\n');
    expect(readFileSync(at('made/later.txt'), 'utf8')).toBe('c\n');
    expect(lstatSync(at('link.txt')).isSymbolicLink()).toBe(true);
  });
});

describe.runIf(asRoot)('as root in the Workspace of uid 1000', () => {
  beforeEach(() => {
    place.remove();
    place = makeFilesPlace({ uid: 1000 });
  });

  test('everything that is made is theirs', async () => {
    await write('a/b/c.txt', 'x\n');
    await write('~/.cache/x', 'x\n');
    await write('/tmp/y/z', 'x\n');
    for (const name of ['a', 'a/b', 'a/b/c.txt']) expect(statSync(at(name))).toMatchObject({ uid: 1000, gid: 1000 });
    await place.call('patch', { path: 'a/b/c.txt', old_string: 'x', new_string: 'y' });
    expect(statSync(at('a/b/c.txt'))).toMatchObject({ uid: 1000, gid: 1000 });
    const foreign = execFileSync('find', [join(place.workspace, '..', 'shared'), '-uid', '0', '-type', 'f', '-path', '*/tmp/*'], {
      encoding: 'utf8',
    });
    expect(foreign).toBe('');
  });

  test("root's rights are not lent: what they may not read, enter or write stays closed", async () => {
    writeFileSync(at('root.txt'), 'secret\n', { mode: 0o600 });
    mkdirSync(at('closed'), { mode: 0o700 });
    writeFileSync(at('closed/x'), 'x\n');
    // What a user can't do while fs.protected_hardlinks is on, and root in this test can.
    const shadow = join(place.workspace, '..', 'shadow');
    writeFileSync(shadow, 'root:secret\n', { mode: 0o600 });
    linkSync(shadow, at('shadow'));
    for (const path of ['root.txt', 'closed/x', 'shadow']) expect(await reasonOf(read({ path }))).toBe('permission');
    for (const path of ['root.txt', 'closed/x', 'closed/new']) expect(await reasonOf(write(path, 'x'))).toBe('permission');
    const found = await place.call('search_files', { pattern: 'secret|root:' });
    expect(found.structured['matches']).toEqual([]);
    expect(statSync(at('root.txt')).uid).toBe(0);
  });
});

/** A disk of its own needs a mount. */
describe.runIf(asRoot)('a full disk', () => {
  test('leaves the old content, nothing half written, and says what to do', async () => {
    const small = at('small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k,mode=0755', 'tmpfs', small]);
    try {
      await write('small/a.txt', 'old\n');
      for (const content of ['x'.repeat(500_000), 'y'.repeat(129_000)]) {
        await expect(write('small/a.txt', content)).rejects.toMatchObject({ code: 'disk_full' });
      }
      expect(readFileSync(join(small, 'a.txt'), 'utf8')).toBe('old\n');
      expect(readdirSync(small)).toEqual(['a.txt']);
    } finally {
      execFileSync('umount', ['--lazy', small]);
    }
  });
});

describe('patch', () => {
  test('several edits apply all or none', async () => {
    place.fill({ 'a.txt': 'one\ntwo\nthree\n' });
    const edits = [
      { old_string: 'one', new_string: '1' },
      { old_string: 'four', new_string: '4' },
    ];
    expect(await reasonOf(place.call('patch', { path: 'a.txt', edits }))).toBe('no_match');
    await expect(place.call('patch', { path: 'a.txt', edits })).rejects.toThrow(/Edit 2 of 2/);
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    const back = [
      { old_string: 'one', new_string: '1' },
      { old_string: '1', new_string: 'one' },
    ];
    expect(await reasonOf(place.call('patch', { path: 'a.txt', edits: back }))).toBe('no_change');
    expect(await reasonOf(place.call('patch', { path: 'a.txt' }))).toBe('bad_args');
    expect(await reasonOf(place.call('patch', { path: 'none.txt', old_string: 'a', new_string: 'b' }))).toBe('not_found');
  });

  test('bytes outside of the edit stay, whatever they are', async () => {
    place.fill({ 'latin.txt': Buffer.from('caf\u00e9 x\n', 'latin1'), 'wide.txt': Buffer.from('\ufeffa\n', 'utf16le') });
    await place.call('patch', { path: 'latin.txt', old_string: 'x', new_string: 'é' });
    expect(readFileSync(at('latin.txt')).toString('hex')).toBe('636166e920c3a90a');
    expect(await reasonOf(place.call('patch', { path: 'wide.txt', old_string: 'a', new_string: 'b' }))).toBe('encoding');
  });

  test('an edit of what was changed meanwhile is not made', async () => {
    const text = `${'x\n'.repeat(200_000)}needle\n`;
    place.fill({ 'a.txt': text });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        reasonOf(place.call('patch', { path: 'a.txt', old_string: 'needle\n', new_string: `needle\n${i}\n` })),
      ),
    );
    const lines = readFileSync(at('a.txt'), 'utf8')
      .slice(text.length)
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.length).toBe(outcomes.filter((one) => one === 'done').length);
    expect(outcomes.every((one) => one === 'done' || one === 'changed')).toBe(true);
  });
});

describe('secrets in files', () => {
  const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n'.repeat(4)}-----END PRIVATE KEY-----\n`;
  const TOKEN = 'ghp_aaaa0000bbbb1111cccc2222dddd3333eeee';
  const CONFIG = `name: x\ntoken: ${TOKEN}\nother: y\n${KEY}last: z\n`;

  test('are shown as markers with the right line numbers, and written back', async () => {
    place.fill({ 'c.yml': CONFIG });
    const shown = await read({ path: 'c.yml' });
    const content = shown['content'] as string;
    expect(content).not.toContain(TOKEN);
    expect(content).not.toContain('MIIE');
    expect(content).toMatch(/^ {5}2\ttoken: \[redacted:[a-z_]+#[0-9a-f]{12}\]$/m);
    expect(content).toMatch(/^ {4}10\tlast: z$/m);
    expect(shown['hidden_values']).toBe(2);
    const text = content
      .split('\n')
      .map((line) => line.replace(/^ *\d+\t/, ''))
      .join('\n');
    await write('c.yml', `${text.replace('name: x', 'name: changed')}\n`);
    expect(readFileSync(at('c.yml'), 'utf8')).toBe(CONFIG.replace('name: x', 'name: changed'));
  });

  test('stay when lines around them are patched, and are in no diff', async () => {
    place.fill({ 'c.yml': CONFIG });
    const content = (await read({ path: 'c.yml' }))['content'] as string;
    const marked = /token: (\S+)/.exec(content)?.[1] ?? '';
    const answer = await place.call('patch', {
      path: 'c.yml',
      old_string: `token: ${marked}\nother: y`,
      new_string: `other: z\ntoken: ${marked}`,
    });
    expect(readFileSync(at('c.yml'), 'utf8')).toBe(CONFIG.replace(`token: ${TOKEN}\nother: y`, `other: z\ntoken: ${TOKEN}`));
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
    expect(answer.structured['diff']).toContain(marked);
  });

  test('a marker that nothing stands behind is refused', async () => {
    place.fill({ 'c.yml': CONFIG, 'doc.md': 'Secrets look like [redacted:password] here.\n' });
    for (const marker of ['[redacted:github_token#0123456789ab]', '[redacted:github_token]']) {
      expect(await reasonOf(write('c.yml', `token: ${marker}\n`))).toBe('marker');
      expect(await reasonOf(write('new.yml', `token: ${marker}\n`))).toBe('marker');
      expect(await reasonOf(place.call('patch', { path: 'c.yml', old_string: 'name: x', new_string: marker }))).toBe('marker');
    }
    expect(readFileSync(at('c.yml'), 'utf8')).toBe(CONFIG);
    expect(existsSync(at('new.yml'))).toBe(false);
    // A text about markers can be edited.
    await write('doc.md', 'Secrets look like [redacted:password] there.\n');
  });

  test('no line of a key is found one by one', async () => {
    place.fill({ 'c.yml': CONFIG });
    const { structured } = await place.call('search_files', { pattern: 'MIIE|token|last', context: 2 });
    expect(JSON.stringify(structured)).not.toContain('MIIE');
    expect(JSON.stringify(structured)).not.toContain(TOKEN);
    expect(JSON.stringify(structured)).toContain('last: z');
  });
});
