import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type McpProcess, makePlace, type Place, startMcp } from '../helpers/writ-process.ts';

let place: Place;
let mcp: McpProcess;

beforeEach(async () => {
  place = makePlace();
  mcp = await startMcp(place);
});
afterEach(async () => {
  await mcp.end();
  place.remove();
});

const file = (name: string): string => join(place.workspace, name);

describe('files', () => {
  test('are written, read with numbers, and patched with a diff', async () => {
    const made = await mcp.call('write_file', { path: 'src/deep/a.ts', content: 'one\ntwo\nthree\n' });
    expect(made).toMatchObject({ isError: false, structured: { created: true, bytes: 14, path: file('src/deep/a.ts') } });
    const read = await mcp.call('read_file', { path: 'src/deep/a.ts', offset: 2 });
    expect(read).toMatchObject({ isError: false, structured: { content: '     2\ttwo\n     3\tthree', total_lines: 3, truncated: false } });
    const edited = await mcp.call('patch', {
      path: file('src/deep/a.ts'),
      edits: [
        { old_string: 'two', new_string: '2' },
        { old_string: 'three  ', new_string: '3' },
      ],
    });
    expect(edited).toMatchObject({ isError: false, structured: { added: 2, removed: 2, edits: [{ stage: 'exact' }, { stage: 'trailing_whitespace' }] } });
    expect(edited.text).toContain('@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3\n');
    expect(readFileSync(file('src/deep/a.ts'), 'utf8')).toBe('one\n2\n3\n');
  });

  test('the shell and the file tools see the same /tmp and HOME', async () => {
    await mcp.call('write_file', { path: '/tmp/from-tool', content: 'tool\n' });
    await mcp.call('write_file', { path: '~/.cache/from-tool', content: 'tool\n' });
    const shell = await mcp.call('shell', { command: 'cat /tmp/from-tool ~/.cache/from-tool; echo shell > /var/tmp/from-shell' });
    expect(shell.structured['stdout']).toBe('tool\ntool\n');
    expect((await mcp.call('read_file', { path: '/var/tmp/from-shell' })).structured['content']).toBe('     1\tshell');
    expect(existsSync('/tmp/from-tool')).toBe(false);
  });
});
