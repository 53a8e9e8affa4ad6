import { GEMINI_CLI } from './agents/gemini-cli.ts';
import { runHost } from './kit/run-host.ts';

await runHost(GEMINI_CLI);
