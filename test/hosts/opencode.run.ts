import { OPENCODE } from './agents/opencode.ts';
import { runHost } from './kit/run-host.ts';

await runHost(OPENCODE);
