import { OPENCODE } from './agents/opencode.ts';
import { runUpstreams } from './kit/run-upstreams.ts';

await runUpstreams(OPENCODE, 'stdio');
