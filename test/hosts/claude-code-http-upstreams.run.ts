import { CLAUDE_CODE } from './agents/claude-code.ts';
import { runUpstreams } from './kit/run-upstreams.ts';

await runUpstreams(CLAUDE_CODE, 'http');
