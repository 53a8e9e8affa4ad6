import { CLAUDE_CODE } from './agents/claude-code.ts';
import { askOverHttp } from './kit/ask-over-http.ts';

await askOverHttp(CLAUDE_CODE);
