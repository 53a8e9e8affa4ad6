import { join } from 'node:path';
import { ROOT } from './bootstrap/checkout.mjs';
import { isBuilt } from './bootstrap/fresh.mjs';
import { makeReady } from './bootstrap/ready.mjs';
import { run } from './bootstrap/run.mjs';
import { main } from './bootstrap/say.mjs';

/** `npm run build`: src/ into dist/, with the right Node. `--if-needed` leaves a dist/ that is newer than its sources alone. */
main(async () => {
  const { node, env } = await makeReady('build');
  if (process.argv.includes('--if-needed') && isBuilt()) return 0;
  return (await run([node, join(ROOT, 'scripts', 'bundle.mjs'), ...process.argv.slice(2)], { env })).code;
});
