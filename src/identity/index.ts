export { findGitRoot } from './git-root.ts';
export { type ResolvedToolset, resolveToolset, type Toolset } from './toolsets.ts';
export { type ResolvedWorkspaces, resolveWorkspaces, type WorkspaceRequest } from './workspaces.ts';
