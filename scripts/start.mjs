import { join } from 'node:path';
import { ROOT } from './bootstrap/checkout.mjs';
import { isBuilt } from './bootstrap/fresh.mjs';
import { makeReady } from './bootstrap/ready.mjs';
import { run } from './bootstrap/run.mjs';
import { main } from './bootstrap/say.mjs';

/**
 * `npm start`: makes the checkout ready, builds it, and starts the server (`writ up`), which shows itself at work first: containment
 * proved, one command through it, how to connect an agent. A missing bubblewrap doesn't stop it: it says what works without. Runs until Ctrl-C.
 */
main(async () => {
  const { node, env } = await makeReady('start');
  if (!isBuilt()) {
    const { code } = await run([node, join(ROOT, 'scripts', 'bundle.mjs'), '--if-needed'], { env });
    if (code !== 0) return code;
  }
  return (await run([node, join(ROOT, 'bin', 'writ.mjs'), 'up', '--demonstrate', ...process.argv.slice(2)], { env, lasting: true })).code;
});
