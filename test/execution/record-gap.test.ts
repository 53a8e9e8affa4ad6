import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listEvents, type RecordedEvent } from '../../src/audit/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { closeOrphans } from '../../src/main/parts/close-orphans.ts';
import { openRecord } from '../audit/support.ts';
import { PREPARED } from '../helpers/prepared.ts';
import { makePlace, OWNER, type Place } from './place.ts';

const CLIENT = fileURLToPath(new URL('../fixtures/unrecorded-client.ts', import.meta.url));

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

/** A client that has run a command and is killed where its outcome is due, or right after it was stored. */
async function killedClient(command: string, hold: boolean): Promise<void> {
  const orders = { config: place.config(), owner: { ...OWNER, workspace: place.workspace }, command, hold };
  const child = spawn(process.execPath, [CLIENT, JSON.stringify(orders)], {
    env: { ...process.env, ...PREPARED.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  expect(JSON.parse(line.toString())).toEqual({ due: hold });
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function recovered(): Promise<readonly RecordedEvent[]> {
  const record = openRecord(place.home);
  const log = record.log();
  await closeOrphans({ execution: place.execution(), audit: async () => log, home: place.home, logger: silentLogger, clock: systemClock });
  await log.close();
  await record.store.close();
  return (await listEvents(place.home, { filter: { type: 'run.recovered' } })).events;
}

describe('a client that is killed', () => {
  it('between the result of a command and its record leaves it to be recorded by the next one, once', async () => {
    await killedClient('exit 3', true);
    const events = await recovered();
    const [exec_id] = readdirSync(join(place.home, 'runs', 'ended'));
    expect(events).toMatchObject([{ run: OWNER.run, data: { exec_id, outcome: { state: 'exited', exit_code: 3 } } }]);
    expect(await recovered()).toHaveLength(1);
  });

  it('after its record and before it was confirmed leaves nothing to be recorded twice', async () => {
    await killedClient('exit 3', true);
    const exec_id = readdirSync(join(place.home, 'runs')).find((name) => name.startsWith('exec_'));
    const record = openRecord(place.home);
    const log = record.log();
    await log.record({ type: 'action.finished', at: 1, ...OWNER, data: { outcome: 'done', exec_id } });
    await log.close();
    await record.store.close();
    expect(await recovered()).toEqual([]);
    expect(readdirSync(join(place.home, 'runs', 'ended'))).toEqual([exec_id]);
  });

  it('after its record leaves nothing to be recorded', async () => {
    await killedClient('exit 3', false);
    expect(await recovered()).toEqual([]);
    const [exec_id] = readdirSync(join(place.home, 'runs', 'ended'));
    expect(exec_id).toMatch(/^exec_/);
    expect(existsSync(join(place.home, 'runs', exec_id ?? ''))).toBe(false);
    const [finished] = (await listEvents(place.home, { filter: { type: 'action.finished' } })).events;
    expect(finished?.data).toMatchObject({ exec_id, exit_code: 3 });
  });
});
