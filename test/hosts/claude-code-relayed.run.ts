import { CLAUDE_CODE } from './agents/claude-code.ts';
import { runHost } from './kit/run-host.ts';

await runHost(CLAUDE_CODE, 'relay');
