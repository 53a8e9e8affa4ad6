import { OPENCODE } from './agents/opencode.ts';
import { askOverHttp } from './kit/ask-over-http.ts';

await askOverHttp(OPENCODE);
