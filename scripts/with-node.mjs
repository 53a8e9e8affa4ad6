import { join } from 'node:path';
import { ROOT } from './bootstrap/checkout.mjs';
import { makeReady } from './bootstrap/ready.mjs';
import { run } from './bootstrap/run.mjs';
import { main, Stop } from './bootstrap/say.mjs';

/** `node scripts/with-node.mjs FILE ARGS...`: runs a file of the checkout (TypeScript too) with the right Node and the packages installed. */
main(async () => {
  const [file, ...args] = process.argv.slice(2);
  if (file === undefined) throw new Stop('Usage: node scripts/with-node.mjs FILE ARGS...');
  const { node, env } = await makeReady('test');
  return (await run([node, join(ROOT, file), ...args], { cwd: ROOT, env })).code;
});
