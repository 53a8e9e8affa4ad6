export { type Added, addServer, type LookedAt, storeSecrets } from './add-server.ts';
export { differenceLines } from './approvals/difference.ts';
export type { UpstreamKey } from './approvals/records.ts';
export { APPROVALS_FILE } from './approvals/records.ts';
export type { ListedUpstream, UpstreamApprovals } from './approvals/types.ts';
export { keyOf } from './approvals/types.ts';
export { createUpstreamApprovals } from './approvals/upstream-approvals.ts';
export { changeServer } from './change-server.ts';
export { type ImportRead, readImports } from './import/import-files.ts';
export type { Imported, Translated } from './import/types.ts';
export {
  createPackages,
  type Installed,
  type InstallerEnd,
  type InstallerRun,
  type InstallOptions,
  type InstallRecord,
  PACKAGES_FOLDER,
  type PackageLook,
  type Packages,
  versionIn,
} from './install/index.ts';
export {
  authorizedFetch,
  type Begun,
  beginLogin,
  createAttempts,
  createLiveLogin,
  createLogins,
  finishLogin,
  type LiveLogin,
  LOGIN_NEWS,
  type LoginTarget,
  loginKeyOf,
  logOut,
  openLoopback,
  readKeysFile,
} from './oauth/index.ts';
export type { Owner as OfferOwner } from './offers.ts';
export { createUpstreamPool, type PoolParts, type UpstreamPool, type UpstreamView } from './pool.ts';
export { createRemembered } from './remembered.ts';
export { removeServer } from './remove-server.ts';
export { type Artifact, type ArtifactPage, type ArtifactStore, createArtifacts } from './results/artifacts.ts';
export { boundResult } from './results/bound-result.ts';
export { containmentHint } from './results/containment-hint.ts';
export { untrustedLine } from './results/lines.ts';
export { createServerLog, type ServerLog } from './server-log.ts';
export { disabledTools, holdsMask, patched, sealed, switched, withDisabledTools } from './settings/entry-edits.ts';
export { expand as expandSettings } from './settings/expand.ts';
export { maskSettings } from './settings/mask.ts';
export { readSettings, type SettingsRead } from './settings/read-settings.ts';
export type * from './types.ts';
export type { Admission, Upstream } from './upstream.ts';
export type { Upstreams } from './upstreams.ts';
export { vetTools } from './vet.ts';
export type { Carrier } from './wire/carrier.ts';
export { createHttpCarrier, type HttpCarrierParts } from './wire/http-carrier.ts';
export { createStdioCarrier } from './wire/stdio-carrier.ts';
