import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

const NEVER = new AbortController().signal;

test('so many at a time, the others in the order in which they came; a place given back twice is one', async () => {
  const places = createPlaces(2);
  const [first, second] = [await places.take(NEVER), await places.take(NEVER)];
  const came: number[] = [];
  const waiting = [3, 4].map(async (n) => {
    await places.take(NEVER);
    came.push(n);
  });
  await Promise.resolve();
  expect(came).toEqual([]);
  first();
  first();
  await waiting[0];
  expect(came).toEqual([3]);
  second();
  await waiting[1];
  expect(came).toEqual([3, 4]);
});

test('whoever leaves the line is passed over', async () => {
  const places = createPlaces(1);
  const release = await places.take(NEVER);
  const leaving = new AbortController();
  const left = places.take(leaving.signal);
  const stays = places.take(NEVER);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: 'cancelled' });
  release();
  await stays;
});

test('the line has an end, and says what it is for', async () => {
  const places = createPlaces(1, 'servers are being started');
  await places.take(NEVER);
  for (let n = 0; n < 256; n++) void places.take(NEVER);
  await expect(places.take(NEVER)).rejects.toMatchObject({ code: 'busy', message: '1 servers are being started and 256 wait already.' });
});
