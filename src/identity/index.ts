export { findGitRoot } from './git-root.ts';
export { createHomeSigner, type HomeSigner } from './home-signer.ts';
export { createIdentity, type IdentityParts } from './identity.ts';
export { type IdentityWrites, identityWrites } from './identity-writes.ts';
export { createSealedStore, type SealedStore } from './sealed-store.ts';
export { hashOfToken } from './token-secret.ts';
export { type ResolvedToolset, resolveToolset, type Toolset } from './toolsets.ts';
export type { AgentToken, Identity, NewToken, RegisteredWorkspace } from './types.ts';
export { judgeWorkspace, type ResolvedWorkspaces, resolveWorkspaces, type WorkspaceRequest } from './workspaces.ts';
