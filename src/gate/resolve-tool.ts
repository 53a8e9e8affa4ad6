/**
 * The tool a caller means. Hosts prefix names with the server's (`mcp__writ__shell`); that spelling is accepted, never listed, and
 * leads to the same entry, so that every check after this one is on the resolved tool.
 */
export function resolveTool<T>(spelled: string, byName: ReadonlyMap<string, T>): T | undefined {
  return byName.get(spelled) ?? byName.get(spelled.replace(/^mcp__[A-Za-z0-9_-]{1,64}?__/, ''));
}
