import { CODEX } from './agents/codex.ts';
import { runHost } from './kit/run-host.ts';

await runHost(CODEX, 'http');
