import { createHmac } from 'node:crypto';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { serveStdio } from '../../src/mcp/index.ts';
import { createFakeGate, OWNER } from './fake-gate.ts';

/** A process that serves the fake gate over its own stdin and stdout. Roots and the client are told in the notices of the first result. */

const KEY = 'the key of a test';
const EXEC = 'exec_01k0000000000000000000';
/** With `fast`, a millisecond is a second: whoever answers at once has thought about it. */
const speed = process.argv[2] === 'fast' ? 1_000 : 1;
const started = systemClock.now();
const clock = {
  now: () => started + (systemClock.now() - started) * speed,
  monotonic: () => systemClock.monotonic() * speed,
};
const facts: string[] = [];
let told = false;

const server = serveStdio({
  input: process.stdin,
  output: process.stdout,
  gate: createFakeGate(),
  toolset: 'default',
  server: { name: 'writ', version: '0.0.0', title: 'Writ' },
  instructions: 'Use shell.',
  clock,
  logger: silentLogger,
  async scopeOf(peer) {
    const roots = await peer.roots();
    if (!told) facts.push(`${peer.revision} ${peer.client?.name} ${roots.join()}`);
    told = true;
    return { owner: OWNER, workspaces: [] };
  },
  signer: {
    sign: (text) => createHmac('sha256', KEY).update(text).digest('base64url'),
    verify: (text, signature) => createHmac('sha256', KEY).update(text).digest('base64url') === signature,
  },
  pendingNotices: async () => facts.splice(0),
  resources: {
    list: async () => [{ id: EXEC, name: 'output of make' }],
    read: async (_owner, id) => (id === EXEC ? { text: 'all of it' } : undefined),
  },
});
await server.closed;
