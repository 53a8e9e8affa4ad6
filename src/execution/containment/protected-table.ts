/**
 * Files and folders of a Workspace that other programs obey: whoever writes there runs code later, outside of any containment.
 * Read-only while present; one that appears during a run is moved away afterwards. Settings only: prose that agents read
 * (AGENTS.md, CLAUDE.md), manifests and CI files are project content, visible in a diff, and stay writable; so do .env files,
 * which are secrets for policy and not configuration of a tool.
 */
export const PROTECTED_IN_WORKSPACE: readonly { readonly path: string; readonly because: string }[] = [
  { path: '.claude', because: 'hooks, permissions and commands of Claude Code' },
  { path: '.mcp.json', because: 'MCP servers that a host starts' },
  { path: '.cursor', because: 'MCP servers, hooks and rules of Cursor' },
  { path: '.vscode', because: 'tasks, debuggers, settings and MCP servers of VS Code' },
  { path: '.gemini', because: 'settings and MCP servers of Gemini CLI' },
  { path: '.qwen', because: 'settings and MCP servers of Qwen Code' },
  { path: '.codex', because: 'settings and MCP servers of Codex' },
  { path: '.opencode', because: 'plugins, agents and tools of opencode' },
  { path: 'opencode.json', because: 'settings and MCP servers of opencode' },
  { path: 'opencode.jsonc', because: 'settings and MCP servers of opencode' },
  { path: '.continue', because: 'settings and MCP servers of Continue' },
  { path: '.windsurf', because: 'settings of Windsurf' },
  { path: '.roo', because: 'settings and MCP servers of Roo' },
  { path: '.kiro', because: 'hooks and MCP servers of Kiro' },
  { path: '.amazonq', because: 'agents and MCP servers of Amazon Q' },
  { path: '.junie', because: 'MCP servers of Junie' },
  { path: '.goosehints', because: 'hints that Goose expands' },
  { path: '.aider.conf.yml', because: 'commands that Aider runs' },
  { path: '.zed', because: 'tasks and servers of Zed' },
  { path: '.idea', because: 'run configurations and start-up tasks of JetBrains editors' },
  { path: '.devcontainer', because: 'commands that an editor runs on the host' },
  { path: '.devcontainer.json', because: 'commands that an editor runs on the host' },
  { path: '.exrc', because: 'commands that vi runs' },
  { path: '.nvimrc', because: 'commands that Neovim runs' },
  { path: '.nvim.lua', because: 'code that Neovim runs' },
  { path: '.dir-locals.el', because: 'code that Emacs evaluates' },
  { path: '.envrc', because: 'code that direnv runs in the shell' },
  { path: 'writ.json', because: 'settings of Writ' },
  { path: '.writ', because: 'settings of Writ' },
];

/** A folder below a Workspace may be opened like the Workspace itself, so that there they are protected by their names. */
export const SETTINGS_NAMES: ReadonlySet<string> = new Set(PROTECTED_IN_WORKSPACE.map(({ path }) => path));

/**
 * The same inside a git folder. `config` opens for a plain git subcommand (RunSpec.git_config_write); a planted `commondir` makes
 * git read hooks and configuration from somewhere else altogether.
 */
export const PROTECTED_IN_GIT: readonly { readonly path: string; readonly opens_for_config_write: boolean }[] = [
  { path: 'hooks', opens_for_config_write: false },
  { path: 'commondir', opens_for_config_write: false },
  { path: 'config', opens_for_config_write: true },
  { path: 'config.worktree', opens_for_config_write: true },
];
