import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConnectionEnds, connectionPeer, kernelAddress } from './connection-peer.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function listening(host: string): Promise<{ readonly port: number; readonly accepted: Promise<Socket> }> {
  const server: Server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  server.listen(0, host);
  await once(server, 'listening');
  open.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, accepted };
}

/** A process that holds one connection until it is ended; with `child`, so does a process that it started. */
async function other(port: number, host: string, child = false): Promise<number> {
  const script = `exec 3<>/dev/tcp/${host}/${port}; echo $$; ${child ? 'sleep 60 & wait' : 'exec sleep 60'}`;
  const started = spawn('/bin/bash', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  open.push(() => process.kill(-(started.pid ?? 0), 'SIGKILL'));
  const [told] = (await once(started.stdout, 'data')) as [Buffer];
  return Number(told.toString());
}

const ends = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): ConnectionEnds => ({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
});

describe('who holds the other end of a connection', () => {
  test.each([
    ['IPv4', '127.0.0.1', '127.0.0.1'],
    ['a listener for both', '::', '127.0.0.1'],
    ['IPv6', '::1', '::1'],
  ])('%s: the process that connected', async (_, host, target) => {
    const { port, accepted } = await listening(host);
    const pid = await other(port, target);
    expect(connectionPeer(await accepted)).toEqual({ type: 'processes', pids: [pid] });
  });

  test('this process itself', async () => {
    const { port, accepted } = await listening('127.0.0.1');
    const client = connect(port, '127.0.0.1');
    open.push(() => client.destroy());
    expect(connectionPeer(await accepted)).toEqual({ type: 'processes', pids: [process.pid] });
  });

  test('every process that inherited it', async () => {
    const { port, accepted } = await listening('127.0.0.1');
    const pid = await other(port, '127.0.0.1', true);
    const socket = await accepted;
    await expect.poll(() => connectionPeer(socket)).toMatchObject({ pids: [expect.any(Number), pid] });
  });

  test('one that is over, and one that was never from here', async () => {
    const { port, accepted } = await listening('127.0.0.1');
    const client = connect(port, '127.0.0.1');
    const socket = await accepted;
    const was = ends(socket);
    client.destroy();
    socket.destroy();
    await expect.poll(() => connectionPeer(was)).toEqual({ type: 'elsewhere' });
    expect(connectionPeer({ ...was, remoteAddress: '192.0.2.7' })).toEqual({ type: 'elsewhere' });
    expect(connectionPeer({})).toEqual({ type: 'elsewhere' });
  });
});

test.each([
  ['127.0.0.1', '0100007F'],
  ['::1', '00000000000000000000000001000000'],
  ['::ffff:127.0.0.1', '0000000000000000FFFF00000100007F'],
  ['fe80::1:2', '000080FE000000000000000002000100'],
])('%s as the kernel lists it: %s', (address, listed) => {
  expect(kernelAddress(address)).toBe(listed);
});
