/**
 * The tool a caller means. Hosts prefix names with the server's (`mcp__writ__shell`), and know an upstream's tool as `mcp__SERVER__TOOL`;
 * these spellings are accepted, never listed, and lead to the same entry, so that every check after this one is on the resolved tool.
 */
export function resolveTool<T>(spelled: string, find: (name: string) => T | undefined): T | undefined {
  return find(spelled) ?? find(spelled.replace(/^mcp__[A-Za-z0-9_-]{1,64}?__/, '')) ?? find(spelled.replace(/^mcp__/, ''));
}
