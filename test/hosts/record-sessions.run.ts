import { CLAUDE_CODE } from './agents/claude-code.ts';
import { CODEX } from './agents/codex.ts';
import { GEMINI_CLI } from './agents/gemini-cli.ts';
import { OPENCODE } from './agents/opencode.ts';
import { QWEN_CODE } from './agents/qwen-code.ts';
import { recordSession } from './kit/record-session.ts';
import { claudeCode } from './sessions/claude-code.ts';
import { codex } from './sessions/codex.ts';
import { geminiCli } from './sessions/gemini-cli.ts';
import { opencode } from './sessions/opencode.ts';
import { qwenCode } from './sessions/qwen-code.ts';

await recordSession(CLAUDE_CODE, claudeCode);
await recordSession(CODEX, codex);
await recordSession(GEMINI_CLI, geminiCli);
await recordSession(OPENCODE, opencode);
await recordSession(QWEN_CODE, qwenCode);
