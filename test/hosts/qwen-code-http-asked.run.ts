import { QWEN_CODE } from './agents/qwen-code.ts';
import { askOverHttp } from './kit/ask-over-http.ts';

await askOverHttp(QWEN_CODE);
