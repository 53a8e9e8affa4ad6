import { CLOUD } from './cloud.ts';
import { CONTAINERS } from './containers.ts';
import { DATABASES } from './databases.ts';
import { EDITORS } from './editors.ts';
import { FILES } from './files.ts';
import { GIT } from './git.ts';
import { INTERPRETERS } from './interpreters.ts';
import { NETWORK } from './network.ts';
import { PACKAGES } from './packages.ts';
import type { Program } from './program.ts';
import { PROJECT } from './project.ts';
import { SYSTEM } from './system.ts';
import { TEXT } from './text.ts';
import { VERSIONS } from './versions.ts';
import { WRAPPERS } from './wrappers.ts';

/** Everything that is known about programs, by name. A program is one line in the table of its family. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ...TEXT,
  ...FILES,
  ...SYSTEM,
  ...GIT,
  ...VERSIONS,
  ...PROJECT,
  ...PACKAGES,
  ...INTERPRETERS,
  ...EDITORS,
  ...NETWORK,
  ...CONTAINERS,
  ...DATABASES,
  ...CLOUD,
  ...WRAPPERS,
]);
