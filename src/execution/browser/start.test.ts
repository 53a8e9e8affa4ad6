import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { membersOf } from '../running/proc.ts';
import { findChromium } from './find-chromium.ts';
import { sweepBrowsers } from './records.ts';
import { type BrowserProcess, startBrowser } from './start.ts';

const CHROMIUM = findChromium();
const parts = { clock: systemClock, logger: silentLogger };
const home = mkdtempSync(join(tmpdir(), 'writ-browser-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const config = { home, bwrap_candidates: ['/usr/bin/bwrap'], slots: 2 };
const records = (): string[] =>
  existsSync(join(home, 'browsers')) ? readdirSync(join(home, 'browsers')).filter((name) => name.endsWith('.json')) : [];

it('says what to do where no Chromium is, and where none works', async () => {
  await expect(startBrowser({ ...config, chromium_candidates: ['/nonexistent'] }, parts)).rejects.toMatchObject({
    code: 'containment_unavailable',
    fix: expect.stringContaining('apt-get install chromium'),
  });
  await expect(startBrowser({ ...config, chromium_candidates: ['/bin/true'] }, parts)).rejects.toMatchObject({
    code: 'containment_unavailable',
    message: expect.stringContaining("can't be started"),
  });
  expect(records()).toEqual([]);
});

it('a torn record and one of a supervisor that is gone are cleared away, one of a living one stays', async () => {
  const folder = join(home, 'browsers');
  mkdirSync(folder, { recursive: true });
  const gone = { marker: 'a'.repeat(32), supervisor: { boot_id: 'another boot', pid: 1, start: '1' } };
  const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19] ?? '';
  const boot_id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const alive = { marker: 'b'.repeat(32), supervisor: { boot_id, pid: process.pid, start: own } };
  writeFileSync(join(folder, 'torn.json'), '{"mark');
  writeFileSync(join(folder, 'gone.json'), JSON.stringify(gone));
  writeFileSync(join(folder, 'alive.json'), JSON.stringify(alive));
  expect(await sweepBrowsers(folder)).toBe(0);
  expect(records()).toEqual(['alive.json']);
  rmSync(join(folder, 'alive.json'));
});

describe.skipIf(CHROMIUM === undefined)('a browser process (needs Chromium)', () => {
  let browser: BrowserProcess;
  beforeAll(async () => {
    browser = await startBrowser(config, parts);
  });
  afterEach(() => {
    browser.transport.onmessage = () => {};
  });

  it('does without its own sandbox only where that can not be built, stays inside bubblewrap, and says so', async () => {
    const folder = mkdtempSync('/var/tmp/writ-chromium-');
    chmodSync(folder, 0o755);
    const program = join(folder, 'chromium');
    const lines = [
      '#!/bin/sh',
      'case "$*" in',
      `*--no-sandbox*) exec ${CHROMIUM} "$@";;`,
      'esac',
      'echo "No usable sandbox!" >&2',
      'exit 1',
    ];
    writeFileSync(program, lines.join('\n'), { mode: 0o755 });
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (_text: string, more?: unknown) => void warned.push(more) };
    const other = await startBrowser({ ...config, chromium_candidates: [program] }, { clock: systemClock, logger });
    try {
      expect(other.sandbox).toBe('bubblewrap');
      expect(warned).toEqual([{ reason: expect.stringContaining('No usable sandbox!') }]);
    } finally {
      expect(await other.close()).toMatchObject({ verified: true });
      rmSync(folder, { recursive: true });
    }
  });

  it('answers over its pipes, in a sandbox of its own and one of bubblewrap around it', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    browser.transport.onmessage = resolve;
    browser.transport.send({ id: 7, method: 'Browser.getVersion' });
    expect(await promise).toMatchObject({ id: 7, result: { product: expect.stringContaining('Chrome') } });
    expect(browser.sandbox).toBe('chromium in bubblewrap');
  });

  it('is nobody, without capabilities, in namespaces of its own, with no socket of the host and no folder of anybody', () => {
    const namespace = browser.pid_namespace;
    const members = membersOf(namespace) ?? [];
    expect(members.length).toBeGreaterThan(2);
    const own = (name: string): string => readlinkSync(`/proc/self/ns/${name}`);
    let looked = 0;
    for (const pid of members) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      if (process.getuid?.() === 0) expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe('65534');
      expect(/^CapEff:\s+(\w+)/m.exec(status)?.[1]).toBe('0'.repeat(16));
      expect(/^NoNewPrivs:\s+(\d)/m.exec(status)?.[1]).toBe('1');
      if (process.getuid?.() !== 0) continue;
      for (const name of ['net', 'pid', 'mnt', 'ipc', 'user']) expect(readlinkSync(`/proc/${pid}/ns/${name}`)).not.toBe(own(name));
      looked += 1;
      for (const path of ['root', 'home', 'etc/shadow', 'etc/passwd', 'run/docker.sock', 'var/run/docker.sock', home.slice(1)]) {
        expect([path, existsSync(`/proc/${pid}/root/${path}`)]).toEqual([path, false]);
      }
    }
    if (process.getuid?.() === 0) expect(looked).toBe(members.length);
  });

  it('has a way out for as many contexts as were asked for, and a freed one again', () => {
    const guard = {
      check: async () => ({ ok: true, addresses: [] }) as const,
      dial: async () => ({ type: 'refused', reason: 'no' }) as const,
    };
    const [one, two] = [browser.openSlot(guard), browser.openSlot(guard)];
    expect(one?.proxy).not.toBe(two?.proxy);
    expect(browser.openSlot(guard)).toBeUndefined();
    one?.close();
    one?.close();
    expect(browser.openSlot(guard)?.proxy).toBe(one?.proxy);
  });

  it('is seen gone when it is closed, and leaves no record', async () => {
    expect(records()).toHaveLength(1);
    const [first, second] = await Promise.all([browser.close(), browser.close()]);
    expect(first).toMatchObject({ verified: true, method: 'namespace_init_gone', survivors: [] });
    expect(second).toBe(first);
    expect(membersOf(browser.pid_namespace)).toEqual([]);
    expect(await browser.ended).toContain('it ended');
    expect(records()).toEqual([]);
  });
});
