import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Whether a `writ up` answers there; at `readyz`, whether it serves agents. */
export async function isReady(port: number, path = 'healthz'): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/${path}`)).ok;
  } catch {
    return false;
  }
}
