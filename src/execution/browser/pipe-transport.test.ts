import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createPipeTransport } from './pipe-transport.ts';

function connect(): { readonly input: PassThrough; readonly broken: string[]; readonly transport: ReturnType<typeof createPipeTransport> } {
  const input = new PassThrough();
  const broken: string[] = [];
  return { input, broken, transport: createPipeTransport(input, new PassThrough(), (why) => void broken.push(why)) };
}

it('gives each message a turn of its own, so that what waits for one hears the next', async () => {
  const { input, transport } = connect();
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  transport.onmessage = (message) => {
    heard.push(`before ${JSON.stringify(message)}`);
    first.resolve();
  };
  void first.promise
    .then(() => undefined)
    .then(() => {
      transport.onmessage = (message) => void heard.push(`after ${JSON.stringify(message)}`);
    });
  input.write('{"id":1}\0{"id":2}\0{"i');
  await expect.poll(() => heard).toEqual(['before {"id":1}', 'after {"id":2}']);
  input.write('d":3}\0');
  await expect.poll(() => heard).toHaveLength(3);
});

it('ends once, on what is no message, and says nothing of what came with it', async () => {
  const { input, broken, transport } = connect();
  const heard: object[] = [];
  const reasons: (string | undefined)[] = [];
  transport.onmessage = (message) => void heard.push(message);
  transport.onclose = (reason) => void reasons.push(reason);
  input.write('{"id":1}\0nonsense\0{"id":2}\0');
  await expect.poll(() => reasons).toEqual(['it sent a message that is no JSON']);
  input.end('{"id":3}\0');
  await expect.poll(() => input.destroyed).toBe(true);
  expect(heard).toEqual([{ id: 1 }]);
  expect(broken).toEqual(['it sent a message that is no JSON']);
  expect(reasons).toHaveLength(1);
});

it('a browser that has gone is told after what it said', async () => {
  const { input, transport } = connect();
  const heard: unknown[] = [];
  transport.onmessage = (message) => void heard.push(message);
  transport.onclose = (reason) => void heard.push(reason);
  input.end('{"id":1}\0{"id":2}\0');
  await expect.poll(() => heard).toEqual([{ id: 1 }, { id: 2 }, 'the browser is gone']);
});
