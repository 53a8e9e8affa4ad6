import { GEMINI_CLI } from './agents/gemini-cli.ts';
import { runUpstreams } from './kit/run-upstreams.ts';

await runUpstreams(GEMINI_CLI, 'stdio');
