export type { PackageLook } from './look.ts';
export {
  createPackages,
  type Installed,
  type InstallOptions,
  PACKAGES_FOLDER,
  type Packages,
  versionIn,
} from './packages.ts';
export type { InstallRecord } from './records.ts';
export type { InstallerEnd, InstallerRun } from './types.ts';
