import { QWEN_CODE } from './agents/qwen-code.ts';
import { runUpstreams } from './kit/run-upstreams.ts';

await runUpstreams(QWEN_CODE, 'stdio');
