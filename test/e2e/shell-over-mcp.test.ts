import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type McpProcess, makePlace, type Place, runWrit, startMcp } from '../helpers/writ-process.ts';

let place: Place;
let mcp: McpProcess | undefined;

beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await mcp?.end();
  mcp = undefined;
  place.remove();
});

describe('shell', () => {
  test('runs a real command: output apart and in order, exit code, receipt', async () => {
    mcp = await startMcp(place);
    const result = await mcp.call('shell', { command: 'echo out; echo err >&2; echo "in $PWD"; exit 3' });
    expect(result.isError).toBe(false);
    expect(result.structured).toMatchObject({
      status: 'exited',
      exit_code: 3,
      timed_out: false,
      stdout: `out\nin ${place.workspace}\n`,
      stderr: 'err\n',
      truncated: false,
    });
    expect(result.structured['teardown']).toMatchObject({ verified: true, survivors: [] });
    expect(result.structured['containment']).toMatchObject({ of: 20 });
    expect(result.text).toContain('exit 3');
  });

  test('a timeout is a result, and nothing is left', async () => {
    mcp = await startMcp(place);
    const result = await mcp.call('shell', { command: 'echo first; setsid sleep 300 & sleep 300', timeout_ms: 700 });
    expect(result.isError).toBe(false);
    expect(result.structured).toMatchObject({ status: 'timed_out', exit_code: 124, timed_out: true, stdout: 'first\n' });
    expect(result.structured['teardown']).toMatchObject({ verified: true, survivors: [] });
  });

  test('refusals tell apart why, and how it can be allowed', async () => {
    mkdirSync(join(place.workspace, 'src'));
    mcp = await startMcp(place);
    const denied = await mcp.call('shell', { command: 'rm -rf /' });
    expect(denied).toMatchObject({ isError: true });
    expect(denied.text).toContain('denied_by_policy');
    const asks = await mcp.call('shell', { command: 'curl https://example.com/' });
    expect(asks.isError).toBe(true);
    expect(asks.text).toContain('no_channel');
    expect(asks.text).toContain('"argv"');
    const wrong = await mcp.call('shell', { command: 5, nonsense: true });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain('command');
    const outside = await mcp.call('shell', { command: 'ls', cwd: '/etc' });
    expect(outside.text).toContain('outside the Workspace');
  });

  test('large output is cut, counted, and read on by cursor', async () => {
    mcp = await startMcp(place);
    const result = await mcp.call('shell', { command: 'seq 1 60000' });
    expect(result.structured).toMatchObject({ exit_code: 0, truncated: true, total_bytes: { stdout: 348_894, stderr: 0 } });
    const id = result.structured['output_id'];
    let text = '';
    for (let cursor = 0, end = false; !end; ) {
      const page = await mcp.call('shell_output', { id, cursor });
      expect(page.isError).toBe(false);
      text += page.structured['output'] as string;
      cursor = page.structured['next_cursor'] as number;
      end = page.structured['end'] as boolean;
    }
    expect(text).toBe(`${Array.from({ length: 60_000 }, (_, index) => index + 1).join('\n')}\n`);
  });

  test('a rule of the operator allows what would ask, with exactly the opening it shows', async () => {
    mkdirSync(place.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(place.home, 'config.json'), JSON.stringify({ dangerous: { allow: [{ argv: ['cat', '.env'] }] } }));
    writeFileSync(join(place.workspace, '.env'), 'GREETING=hello\n');
    mcp = await startMcp(place);
    const result = await mcp.call('shell', { command: 'cat .env' });
    expect(result).toMatchObject({ isError: false });
    expect(result.structured['stdout']).toContain('GREETING=hello');
    expect((await mcp.call('shell', { command: 'cat .env; cat ~/.netrc' })).isError).toBe(true);
  });
});

describe('jobs', () => {
  test('a background job outlives the connection that started it, and a later one picks it up', async () => {
    mcp = await startMcp(place);
    const started = await mcp.call('shell', { command: '#!bg\nuntil [ -e go ]; do sleep 0.05; done; echo finished; exit 4' });
    expect(started.structured).toMatchObject({ status: 'running' });
    const job_id = started.structured['job_id'] as string;
    expect(await mcp.end()).toBe(0);

    mcp = await startMcp(place);
    const seen = await mcp.call('job_get', { job_id });
    expect(seen.structured['job']).toMatchObject({ state: 'running' });
    writeFileSync(join(place.workspace, 'go'), '');
    let page = await mcp.call('job_output', { job_id, cursor: 0, wait_ms: 20_000 });
    while (page.structured['end'] !== true)
      page = await mcp.call('job_output', { job_id, cursor: page.structured['next_cursor'], wait_ms: 20_000 });
    expect(page.structured['job']).toMatchObject({ state: 'exited', exit_code: 4 });
    expect((await mcp.call('job_output', { job_id, cursor: 0 })).structured['output']).toBe('finished\n');
    expect((await mcp.call('job_list', {})).structured).toMatchObject({ total: 1 });

    // Its end is in the record once, under the action that started it.
    expect(await mcp.end()).toBe(0);
    const ended = await auditRows(place, 'job.ended');
    expect(ended).toMatchObject([{ data: { job_id, outcome: { state: 'exited', exit_code: 4 } } }]);
    expect((await auditRows(place, 'action.decided')).map(({ action }) => action)).toContain(ended[0]?.action);
  });

  test('the end of a job is announced once, with the next result, and not to whoever has just read it', async () => {
    mcp = await startMcp(place);
    const wait = 'until [ -e go ]; do sleep 0.05; done';
    const told = (await mcp.call('shell', { command: wait, background: true })).structured['job_id'] as string;
    const read = (await mcp.call('shell', { command: wait, background: true })).structured['job_id'] as string;
    writeFileSync(join(place.workspace, 'go'), '');
    const heard: string[] = [];
    let end = false;
    while (!end) {
      const page = await mcp.call('job_output', { job_id: read, cursor: 0, wait_ms: 20_000 });
      end = page.structured['end'] === true;
      heard.push(page.text);
    }
    while (!heard.some((text) => text.includes(`Job ended: ${told}`))) heard.push((await mcp.call('job_list', {})).text);
    for (let i = 0; i < 3; i++) heard.push((await mcp.call('job_list', {})).text);
    // Once for the one that nobody read; the other was read before it could be announced.
    expect(heard.join('\n').split(`Job ended: ${told}`)).toHaveLength(2);
    expect(heard.at(-1)).not.toContain('Job ended');
  });

  test('a foreground command that outlasts yield_ms goes on as a job', async () => {
    mcp = await startMcp(place);
    const result = await mcp.call('shell', { command: 'echo early; until [ -e go ]; do sleep 0.05; done; echo late', yield_ms: 300 });
    expect(result.structured).toMatchObject({ status: 'running', stdout: 'early\n' });
    const job_id = result.structured['job_id'] as string;
    writeFileSync(join(place.workspace, 'go'), '');
    let page = await mcp.call('job_output', { job_id, cursor: 6, wait_ms: 20_000 });
    while (page.structured['end'] !== true)
      page = await mcp.call('job_output', { job_id, cursor: page.structured['next_cursor'], wait_ms: 20_000 });
    expect(page.structured['job']).toMatchObject({ state: 'exited', exit_code: 0 });
  });

  test('cancel ends the tree', async () => {
    mcp = await startMcp(place);
    const started = await mcp.call('shell', { command: 'trap "" TERM; setsid sleep 300 & sleep 300', background: true });
    const cancelled = await mcp.call('job_cancel', { job_id: started.structured['job_id'] });
    expect(cancelled.structured).toMatchObject({ job: { state: 'cancelled' }, teardown_verified: true });
  });
});

describe('the record', () => {
  test('every decision and outcome is there, verifies, and holds no output', async () => {
    mcp = await startMcp(place);
    await mcp.call('shell', { command: 'echo a-very-particular-output' });
    await mcp.call('shell', { command: 'rm -rf /', _writ_owner: 'somebody' });
    await mcp.end();
    mcp = undefined;
    const list = await runWrit(place, ['audit', 'list', '--json']);
    expect(list.code).toBe(0);
    const { events } = JSON.parse(list.stdout) as { events: { type: string; data: Record<string, unknown> }[] };
    expect(
      events
        .map((event) => event.type)
        .filter((type) => type.startsWith('action.'))
        .sort(),
    ).toEqual(['action.decided', 'action.finished', 'action.refused']);
    const refused = events.find((event) => event.type === 'action.refused');
    expect(refused?.data).toMatchObject({ code: 'denied_by_policy', verdict: 'deny' });
    expect(JSON.stringify(refused?.data['notes'])).toContain('_writ_owner');
    expect(JSON.stringify(events.find((event) => event.type === 'action.finished'))).not.toContain('particular-output');
    const verified = await runWrit(place, ['audit', 'verify']);
    expect(verified).toMatchObject({ code: 0 });
    expect(existsSync(join(place.home, 'audit'))).toBe(true);
    expect(readFileSync(join(place.home, 'audit', 'checkpoints.jsonl'), 'utf8')).not.toBe('');
  });

  test('nothing a surface offers goes around the gate: each tool and each resource read leaves its action', async () => {
    mcp = await startMcp(place);
    const { tools } = (await mcp.ask('tools/list')) as { tools: { name: string }[] };
    for (const tool of tools) await mcp.call(tool.name, {});
    await mcp.call('mcp__writ__job_list', {});
    const ran = await mcp.call('shell', { command: 'echo hello' });
    const read = await mcp.ask('resources/read', { uri: `writ://output/${ran.structured['output_id']}` });
    expect(JSON.stringify(read)).toContain('hello');
    await mcp.end();
    mcp = undefined;
    const { events } = JSON.parse((await runWrit(place, ['audit', 'list', '--json', '--limit', '200'])).stdout) as {
      events: { type: string; tool?: string }[];
    };
    const started = events.filter((event) => event.type === 'action.decided' || event.type === 'action.refused').map((event) => event.tool);
    expect(started.sort()).toEqual([...tools.map((tool) => tool.name), 'job_list', 'shell', 'shell_output'].sort());
  });
});

async function auditRows(
  of: Place,
  type: string,
): Promise<readonly { readonly action?: string; readonly data: Readonly<Record<string, unknown>> }[]> {
  const { stdout } = await runWrit(of, ['audit', 'list', '--json', '--type', type]);
  return (JSON.parse(stdout) as { events: Awaited<ReturnType<typeof auditRows>> }).events;
}
