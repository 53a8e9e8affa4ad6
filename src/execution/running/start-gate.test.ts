// biome-ignore-all lint/suspicious/noTemplateCurlyInString: commands for bash

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { readIdentity } from './identity-file.ts';
import { gateMessage, launcherScript, MAX_COMMAND_BYTES } from './launcher.ts';
import { listPids } from './proc.ts';
import { sweepMarked } from './sweep.ts';
import { type Bench, makeBench, until } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.close());

/** The launcher alone, with a message of our choice. */
function launch(message: Uint8Array): { code: number; stdout: string } {
  const file = join(bench.hand.home, 'message');
  writeFileSync(file, message);
  try {
    const script = `exec 6<"$1"; exec 7>/dev/null; shift; exec bash --noprofile --norc -c "$1" bash`;
    const stdout = execFileSync('bash', ['-c', script, 'x', file, launcherScript([], false).replaceAll(/printf [RG] >&6; /g, '')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { code: 0, stdout };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, stdout };
  }
}

describe('the launcher', () => {
  it('runs exactly what comes after its token', () => {
    expect(launch(gateMessage({ cwd: '/', command: 'echo ran' }))).toEqual({ code: 0, stdout: 'ran\n' });
  });

  it('starts in the folder that it is told, as a shell that has gone nowhere', () => {
    const cwd = join(bench.hand.workspace, '-a "b"\n$(c)');
    mkdirSync(cwd);
    const command = 'printf "%s|" "$PWD" "$(pwd -P)" "${OLDPWD-none}"; declare -p OLDPWD; cd / && echo "$OLDPWD"';
    expect(launch(gateMessage({ cwd, command })).stdout).toBe(`${cwd}|${cwd}|none|declare -x OLDPWD\n${cwd}\n`);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a part of the token', gateMessage({ cwd: '/', command: 'echo ran' }).subarray(0, 5)],
    ['the token alone', gateMessage({ cwd: '/', command: 'echo ran' }).subarray(0, 24)],
    ['a part of the command', gateMessage({ cwd: '/', command: 'echo ran' }).subarray(0, 32)],
    ['another token', Buffer.from('WritGo1:0000000100000008/echo ran')],
    ['no length', Buffer.from('WritGo2:00000001xxxxxxxx/echo ran')],
    ['a folder that is not there', gateMessage({ cwd: '/does/not/exist', command: 'echo ran' })],
    ['a command without token', Buffer.from('echo ran; echo ran; echo ran')],
  ])('exits 125 and runs nothing for %s', (_, message) => {
    expect(launch(message)).toEqual({ code: 125, stdout: '' });
  });
});

describe('a command', () => {
  it.each([
    ['descriptors', 'cd /proc/self/fd; echo *', '0 1 2 3\n'],
    ['variables', 'compgen -v | grep -ixE "x|writ.*|reply"; env | grep -i ^writ', ''],
    ['name and arguments', 'echo "$0 $# $BASH_EXECUTION_STRING"', 'bash 0 echo "$0 $# $BASH_EXECUTION_STRING"\n'],
    ['options', 'echo $-', 'hBc\n'],
    ['umask', 'umask', '0022\n'],
    ['errexit', 'set -e; false; echo no', ''],
    ['a here-document', "cat <<'E'\n$x `y`\nE", '$x `y`\n'],
    ['exit in a trap', 'trap "echo bye" EXIT; exit 3', 'bye\n'],
    ['exec', 'exec echo replaced', 'replaced\n'],
    ['line numbers', '\n\necho $LINENO', '3\n'],
  ])('finds what bash -c would give it: %s', async (_, command, stdout) => {
    const { output } = await bench.run(command);
    expect(output.stdout.head).toBe(stdout);
  });

  it('keeps its locale although it was read byte by byte', async () => {
    const { output } = await bench.run('x="ä€😀"; echo ${#x} "${LC_ALL-unset}"');
    expect(output.stdout.head).toBe('3 unset\n');
  });

  it('may be as long as 1 MiB and as short as nothing', async () => {
    const tail = '; echo "${#x}"';
    const command = `x='${'ä'.repeat((MAX_COMMAND_BYTES - tail.length - 4) / 2)}'${tail}`;
    expect(Buffer.byteLength(command)).toBeGreaterThan(MAX_COMMAND_BYTES - 4);
    const { outcome, output } = await bench.run(command);
    expect(outcome).toEqual({ state: 'exited', exit_code: 0 });
    expect(Number(output.stdout.head)).toBeGreaterThan(500_000);
    expect((await bench.run('')).outcome).toEqual({ state: 'exited', exit_code: 0 });
  });

  it('is refused with a NUL or over 1 MiB, before anything starts', async () => {
    await expect(bench.start('echo a\0b')).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(bench.start('x'.repeat(MAX_COMMAND_BYTES + 1))).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('cannot have code run before the gate through its environment', async () => {
    const env = { ...bench.plan.env, BASH_ENV: '/tmp/early', 'BASH_FUNC_read%%': '() { echo early; }', SHELLOPTS: 'xtrace', TMOUT: '1' };
    const { output } = await bench.run('echo "${BASH_ENV-}${TMOUT-}ok"', { plan: { ...bench.plan, env } });
    expect(output).toMatchObject({ stdout: { head: 'ok\n' }, stderr: { head: '' } });
  });
});

describe('the record of a run', () => {
  it('is complete before the command runs, and a second start on it is refused and runs nothing', async () => {
    const run = await bench.start('echo $$; sleep 60', { durable: true });
    const identity = readIdentity(run.folder);
    expect(identity).toMatchObject({ version: 1, exec_id: run.exec_id, marker: run.exec_id, generation: 1 });
    await expect(
      bench.running.start({
        exec_id: newId('exec'),
        spec: bench.hand.spec('touch twice'),
        plan: bench.plan,
        folder: run.folder,
        durable: false,
        logger: silentLogger,
      }),
    ).rejects.toMatchObject({ code: 'EEXIST' });
    expect(existsSync(join(bench.hand.workspace, 'twice'))).toBe(false);
    run.cancel('enough');
    const { outcome, receipt } = await run.done;
    expect(outcome).toEqual({ state: 'cancelled', reason: 'enough' });
    expect(receipt).toMatchObject({ init: { pid: typeof identity === 'object' ? identity.init.pid : 0 } });
  });

  it('is there with the right content whenever user code ran, at whatever moment the supervisor dies', async () => {
    const source = fileURLToPath(new URL('./index.ts', import.meta.url));
    const kernel = (name: string): string => fileURLToPath(new URL(`../../kernel/${name}.ts`, import.meta.url));
    const markers = new Set<string>();
    let ran = 0;
    const round = async (number: number): Promise<void> => {
      const exec_id = newId('exec');
      markers.add(exec_id);
      const folder = bench.hand.folder(exec_id);
      const proof = `ran-${number}`;
      const spec = bench.hand.spec(`touch ${proof}; sleep 60`);
      const program = `
        import { createRunning } from ${JSON.stringify(source)};
        import { systemClock } from ${JSON.stringify(kernel('clock'))};
        import { silentLogger } from ${JSON.stringify(kernel('logger'))};
        const running = createRunning(${JSON.stringify(bench.hand.config)}, systemClock);
        const plan = { ...${JSON.stringify(bench.plan)}, seccomp: Uint8Array.from(${JSON.stringify([...bench.plan.seccomp])}) };
        const input = { exec_id: ${JSON.stringify(exec_id)}, spec: ${JSON.stringify(spec)}, plan, folder: ${JSON.stringify(folder)} };
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${number});
        await running.start({ ...input, durable: false, logger: silentLogger });`;
      const victim = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', program], { stdio: 'ignore' });
      await new Promise((resolve) => victim.on('exit', resolve));
      await sweepMarked(new Set([exec_id]));
      if (!existsSync(join(bench.hand.workspace, proof))) return;
      ran++;
      expect(readIdentity(folder), `killed after ${number} ms`).toMatchObject({ exec_id });
    };
    const waiting = Array.from({ length: 12 }, (_, number) => number * 2);
    const worker = async (): Promise<void> => {
      for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) await round(number);
    };
    await Promise.all([worker(), worker(), worker()]);
    // Nothing of any round is left, whether it was waiting at the gate or running.
    await until(() => livingWith(markers) === 0);
    expect(ran).toBeLessThan(12);
  }, 60_000);
});

function livingWith(markers: ReadonlySet<string>): number {
  return (listPids() ?? []).filter((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return [...markers].some((marker) => environment.includes(marker));
    } catch {
      return false;
    }
  }).length;
}
