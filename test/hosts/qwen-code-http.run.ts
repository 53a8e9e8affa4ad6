import { QWEN_CODE } from './agents/qwen-code.ts';
import { runHost } from './kit/run-host.ts';

await runHost(QWEN_CODE, 'http');
