import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createStdioCarrier } from './stdio-carrier.ts';

function pipes() {
  const writes: string[] = [];
  const stdin = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      writes.push(chunk);
      done();
    },
  });
  const gone = Promise.withResolvers<string>();
  const carrier = createStdioCarrier(
    { stdin, stdout: new PassThrough(), ended: gone.promise, close: async () => gone.resolve('closed') },
    1024,
  );
  const say = (id: number): Promise<void> => carrier.send({ jsonrpc: '2.0', id, method: 'x' });
  const ids = (): readonly (readonly number[])[] =>
    writes.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => Number(JSON.parse(line).id)),
    );
  return { carrier, say, ids };
}

test('what is said in one turn is two writes, in its order: the first at once', async () => {
  const { say, ids } = pipes();
  for (const id of [1, 2, 3]) void say(id);
  expect(ids()).toEqual([[1]]);
  await say(4);
  await say(5);
  expect(ids()).toEqual([[1]]);
  await new Promise(setImmediate);
  expect(ids()).toEqual([[1], [2, 3, 4, 5]]);
  void say(6);
  expect(ids()).toEqual([[1], [2, 3, 4, 5], [6]]);
});

test('what was said right before it is closed is written, and nothing after', async () => {
  const { carrier, say, ids } = pipes();
  await carrier.start({ message() {}, noise() {}, closed() {} });
  void say(1);
  void say(2);
  const closing = carrier.close();
  await expect(say(3)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  await closing;
  expect(ids()).toEqual([[1], [2]]);
});
