#!/usr/bin/env node
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { userInfo } from 'node:os';
import { join } from 'node:path';

// Old syntax and old APIs only until the version is known: this line has to be readable on any Node.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `writ: needs Node.js 24 or newer, this is ${process.versions.node} (${process.execPath}).\n` +
      'Install Node 24 LTS or newer, then install writ again with the npm that comes with it.\n',
  );
  process.exit(1);
}

// node:sqlite is called experimental by the first releases of Node 24. That line alone is dropped; every other warning is shown.
const emitWarning = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest);
};

cacheCompiledCode();
await import('../dist/cli.js');

/**
 * Compiled code is kept in the Writ home, which no contained command can write to; never in the shared temporary folder. A home that
 * isn't there yet, or isn't ours alone, means no cache.
 */
function cacheCompiledCode() {
  try {
    const home = process.env.WRIT_HOME ?? join(userInfo().homedir, '.writ');
    if (!existsSync(home)) return;
    const folder = join(home, 'cache', 'compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const ours = [home, join(home, 'cache'), folder].every((path) => {
      const { uid, mode } = lstatSync(path);
      return uid === process.getuid?.() && (mode & 0o170000) === 0o040000 && (mode & 0o022) === 0;
    });
    if (ours) nodeModule.enableCompileCache(folder);
  } catch {
    // Only speed is lost: an account without a home, a full or read-only disk.
  }
}
