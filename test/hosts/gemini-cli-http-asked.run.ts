import { GEMINI_CLI } from './agents/gemini-cli.ts';
import { askOverHttp } from './kit/ask-over-http.ts';

await askOverHttp(GEMINI_CLI);
