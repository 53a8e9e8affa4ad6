import { makeReady } from './bootstrap/ready.mjs';
import { main, Stop } from './bootstrap/say.mjs';
import { runGate } from './gate/gate.mjs';

/** `npm test`: everything that must hold before a change is taken. Its last line is the count of all checks and tests. */
main(async () => {
  const { node, env, missing } = await makeReady('test');
  if (missing.length > 0) throw new Stop(`The tests can't run without: ${missing.join(', ')}`);
  return runGate({ node, env });
});
