import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type McpProcess, makePlace, type Place, startMcp } from '../helpers/writ-process.ts';

let place: Place;
let mcp: McpProcess;

beforeAll(async () => {
  place = makePlace();
  mcp = await startMcp(place);
});
afterAll(async () => {
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
    expect(edited).toMatchObject({
      isError: false,
      structured: { added: 2, removed: 2, edits: [{ stage: 'exact' }, { stage: 'trailing_whitespace' }] },
    });
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

  test('searches go through ripgrep in a sandbox, and pictures are content of their own', async () => {
    mkdirSync(file('.github'));
    writeFileSync(file('.github/ci.yml'), 'run: needle\n');
    writeFileSync(file('a.ts'), 'const needle = 1;\n');
    expect((await mcp.call('search_files', { pattern: 'needle' })).text).toBe('a.ts\n  1: const needle = 1;');
    expect((await mcp.call('search_files', { pattern: 'needle', path: '.github' })).structured).toMatchObject({ total: 1 });
    const bad = await mcp.call('search_files', { pattern: '(' });
    expect(bad.text).toContain('unclosed group');
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    writeFileSync(file('x.png'), png);
    const result = await mcp.ask('tools/call', { name: 'read_file', arguments: { path: 'x.png' } });
    expect(result['content']).toContainEqual({ type: 'image', data: png.toString('base64'), mimeType: 'image/png' });
  });

  test('a secret is written back without ever having been shown', async () => {
    const config = 'name: x\ntoken: ghp_aaaa0000bbbb1111cccc2222dddd3333eeee\n';
    writeFileSync(file('c.yml'), config);
    const read = await mcp.call('read_file', { path: 'c.yml' });
    expect(JSON.stringify(read)).not.toContain('ghp_');
    const content = (read.structured['content'] as string).replace(/^ *\d+\t/gm, '').replace('name: x', 'name: y');
    const written = await mcp.call('write_file', { path: 'c.yml', content: `${content}\n` });
    expect(written.isError).toBe(false);
    expect(readFileSync(file('c.yml'), 'utf8')).toBe(config.replace('name: x', 'name: y'));
    const lost = await mcp.call('write_file', { path: 'c.yml', content: 'token: [redacted:token]\n' });
    expect(lost.text).toContain('edit_failed');
  });

  // From here on the program is started again with other surroundings.
  test('what only a person may allow is refused with the reason and the rule, and the rule works', async () => {
    writeFileSync(file('.env'), 'GREETING=hello\n');
    symlinkSync('.env', file('innocent.txt'));
    const asked = await mcp.call('read_file', { path: 'innocent.txt' });
    expect(asked).toMatchObject({ isError: true });
    expect(asked.text).toContain('no_channel');
    expect(asked.text).toContain('credential_access');
    const planted = await mcp.call('write_file', { path: '.claude/settings.json', content: '{}' });
    expect(planted.text).toContain('persistence');
    expect(existsSync(file('.claude'))).toBe(false);
    await mcp.end();

    mkdirSync(place.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(place.home, 'config.json'), JSON.stringify({ dangerous: { allow: [{ argv: ['read_file', file('.env')] }] } }));
    mcp = await startMcp(place);
    expect(await mcp.call('read_file', { path: '.env' })).toMatchObject({
      isError: false,
      structured: { content: '     1\tGREETING=hello' },
    });
    expect(await mcp.call('patch', { path: '.env', old_string: 'hello', new_string: 'bye' })).toMatchObject({ isError: true });
  });

  test("a person's yes opens the one path that the question shows", async () => {
    await mcp.end();
    mkdirSync(file('.vscode'), { recursive: true });
    const shown: string[] = [];
    mcp = await startMcp(place, {
      capabilities: { elicitation: {} },
      onRequest: (_method, params) => {
        // Long lines are wrapped on the card.
        shown.push(String(params['message']).replace(/\n\s*┊ /g, ''));
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    const content = '{\n  "version": "2.0.0"\n}\n';
    expect(await mcp.call('write_file', { path: '.vscode/tasks.json', content })).toMatchObject({ isError: false });
    expect(readFileSync(file('.vscode/tasks.json'), 'utf8')).toBe(content);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain(`${file('.vscode/tasks.json')} for reading and writing`);
    expect(shown[0]).toContain('"version": "2.0.0"');
  });
});
