import { join } from 'node:path';
import type { Host } from './types.ts';

/** Where the programs keep their servers for a user: all that are there are read. Linux first, then macOS. */
const PLACES: Readonly<Record<Host, readonly string[]>> = {
  claude: ['.claude.json'],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json', 'Library/Application Support/Claude/claude_desktop_config.json'],
  cursor: ['.cursor/mcp.json'],
  vscode: [
    '.config/Code/User/mcp.json',
    '.config/Code/User/settings.json',
    'Library/Application Support/Code/User/mcp.json',
    'Library/Application Support/Code/User/settings.json',
  ],
  gemini: ['.gemini/settings.json'],
  codex: ['.codex/config.toml'],
  opencode: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
};

export function filesOf(host: Host, home: string): readonly string[] {
  return PLACES[host].map((path) => join(home, path));
}
