import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canonicalJson } from '../../kernel/canonical-json.ts';
import type { UpstreamSettings } from '../types.ts';
import { readCommand } from './read-command.ts';
import { changedFile, type InstallRecord } from './records.ts';
import type { Wanted } from './types.ts';

/** What there is to be said about the package of a server before it is started. */
export type PackageLook =
  /** It has none. */
  | { readonly state: 'none' }
  | { readonly state: 'installed'; readonly record: InstallRecord; readonly args_from: number }
  | { readonly state: 'missing' | 'changed'; readonly wanted: Wanted; readonly reason: string }
  | { readonly state: 'unclear'; readonly reason: string };

/** Reads the record and a few files; never the network. `recordOf` gives what was written down of this server. */
export function lookAt(settings: UpstreamSettings, recordOf: () => InstallRecord | undefined): PackageLook {
  const { transport, name } = settings;
  if (transport.type !== 'stdio') return { state: 'none' };
  const command = readCommand(transport);
  if (command.type === 'own') return { state: 'none' };
  if (command.type === 'unclear') {
    return { state: 'unclear', reason: `nothing is downloaded when a server starts, and ${command.why}. ${command.fix}` };
  }
  const { wanted, args_from } = command;
  if (isOfProject(wanted, transport.cwd)) return { state: 'none' };
  const how = `writ upstream install ${name}`;
  const record = recordOf();
  if (record === undefined) {
    return {
      state: 'missing',
      wanted,
      reason: `${nameOf(wanted)} is not installed, and nothing is downloaded when a server starts (${how})`,
    };
  }
  if (canonicalJson(record.wanted) !== canonicalJson(wanted)) {
    return { state: 'missing', wanted, reason: `${nameOf(wanted)} is not installed; what is, was ${nameOf(record.wanted)} (${how})` };
  }
  if (!existsSync(record.folder)) return { state: 'missing', wanted, reason: `${record.folder}, where it was installed, is gone (${how})` };
  const changed = isOwned(record.folder) ? changedFile(record) : '.';
  if (changed === undefined) return { state: 'installed', record, args_from };
  return { state: 'changed', wanted, reason: `${join(record.folder, changed)} is not what was installed (${how} puts it back)` };
}

export function nameOf({ specs }: Pick<Wanted, 'specs'>): string {
  return specs.join(' ');
}

/** npx and its like take a program of the project's own before they ask a registry, where no version is named. */
function isOfProject({ ecosystem, specs, bin }: Wanted, cwd: string | undefined): boolean {
  const [spec = ''] = specs;
  if (ecosystem !== 'npm' || cwd === undefined || bin !== undefined || spec.lastIndexOf('@') > 0) return false;
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules/.bin', spec))) return true;
    if (folder === dirname(folder)) return false;
  }
}

/** A folder of ours that no other may write. */
function isOwned(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}
