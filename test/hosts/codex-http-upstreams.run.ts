import { CODEX } from './agents/codex.ts';
import { runUpstreams } from './kit/run-upstreams.ts';

await runUpstreams(CODEX, 'http');
