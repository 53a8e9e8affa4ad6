import { CODEX } from './agents/codex.ts';
import { askOverHttp } from './kit/ask-over-http.ts';

await askOverHttp(CODEX);
