import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identify, judge, signalOwned } from './identity.ts';
import { IDENTITY_FILE, readIdentity } from './identity-file.ts';
import { MARKER_VARIABLE } from './launcher.ts';
import { parseStat } from './proc.ts';
import { sweepMarked } from './sweep.ts';

const gone = { boot_id: 'another boot', pid: process.pid, start: '1' };

describe('identity', () => {
  it('counts the fields of stat from the last bracket', () => {
    const rest = 'S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2 3';
    expect(parseStat(`12 (a) b) R 1 (x) ${rest}`)).toEqual({ state: 'S', ppid: 7, start: '4711' });
    expect(parseStat('nonsense')).toBeUndefined();
  });

  it('tells ours from gone, from another boot and from a reused number', async () => {
    const child = spawn('sleep', ['600']);
    const identity = identify(child.pid ?? 0);
    if (identity === undefined) throw new Error('no identity');
    expect(judge(identity)).toBe('OWNED');
    expect(judge({ ...identity, start: '1' })).toBe('FOREIGN');
    expect(judge({ ...identity, boot_id: 'another boot' })).toBe('GONE');
    expect(signalOwned({ ...identity, start: '1' }, 'SIGKILL')).toBe(false);
    expect(signalOwned(identity, 'SIGKILL')).toBe(true);
    await new Promise((resolve) => child.on('exit', resolve));
    expect(judge(identity)).toBe('GONE');
    expect(signalOwned(identity, 'SIGKILL')).toBe(false);
  });

  it.each([-1, 0, 1])('never signals pid %s, whatever a record says', (pid) => {
    expect(signalOwned({ ...gone, pid }, 'SIGCONT')).toBe(false);
  });

  it('takes a torn or foreign record for what it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-identity-'));
    expect(readIdentity(folder)).toBe('absent');
    for (const text of ['', '{"version":1', '[]', '{"version":2}', '{"version":1,"exec_id":"x","marker":"x","pid_namespace":"y"}']) {
      writeFileSync(join(folder, IDENTITY_FILE), text);
      expect(readIdentity(folder)).toBe('torn');
    }
    rmSync(folder, { recursive: true });
  });
});

describe('sweepMarked', () => {
  it('ends what carries a recorded marker and nothing else', async () => {
    const start = (marker: string) => spawn('sleep', ['600'], { env: { [MARKER_VARIABLE]: marker } });
    const ours = start('exec_ours');
    const similar = start('exec_ours2');
    const ended = new Promise((resolve) => ours.on('exit', (_, signal) => resolve(signal)));
    expect(await sweepMarked(new Set(['exec_ours']))).toEqual({ found: 1, survivors: [] });
    expect(await ended).toBe('SIGKILL');
    expect(similar.exitCode ?? similar.signalCode).toBeNull();
    similar.kill('SIGKILL');
    expect(await sweepMarked(new Set())).toEqual({ found: 0, survivors: [] });
  });
});
