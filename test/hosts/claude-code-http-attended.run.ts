import { askClaudeCode } from './kit/ask-claude-code.ts';

await askClaudeCode('http');
