import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SSH_FILES } from '../network/ssh-files.ts';
import { ETC_ENTRIES } from './etc-table.ts';
import { GENERATED_AT } from './generated-files.ts';
import { kindOf, look, readSmallBytes, realPath } from './look.ts';
import { within } from './mount.ts';

/** How long one look at /etc is good for. */
const FRESH_MS = 30_000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_ITEMS = 20_000;
const KEPT_SNAPSHOTS = 4;
/** Of those with places for openings: a run that goes on for long still has its own. */
const KEPT_OPENED = 16;

type Item =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'file'; readonly path: string; readonly source: string; readonly stamp: string }
  /** Empty: something that was opened for a run is mounted there. */
  | { readonly kind: 'place'; readonly path: string };

/** Lists what the table names and everybody may read; a file that only root reads stays out even when we are root. */
function listItems(etc: string): readonly Item[] {
  const items: Item[] = [];
  const add = (path: string, top: boolean): void => {
    if (items.length >= MAX_ITEMS) return;
    const kind = kindOf(path);
    if (kind === 'link') {
      // Below a folder a link stays one. A named file that is a link out of /etc and /usr (resolv.conf) is taken by what it says.
      const real = top ? realPath(path) : undefined;
      if (real !== undefined && ![etc, '/usr'].some((folder) => within(real, folder))) addFile(path, real);
      else items.push({ kind: 'link', path, target: readlinkSync(path) });
    } else if (kind === 'file') addFile(path, path);
    else if (kind === 'folder' && ((look(path)?.mode ?? 0) & 0o005) === 0o005) {
      items.push({ kind: 'folder', path });
      for (const name of readdirSync(path).toSorted()) add(join(path, name), false);
    }
  };
  const addFile = (path: string, source: string): void => {
    const stat = look(source);
    if (!stat?.isFile() || (stat.mode & 0o004) === 0 || stat.size > MAX_FILE_BYTES) return;
    items.push({ kind: 'file', path, source, stamp: `${stat.ino} ${stat.size} ${stat.ctimeMs}` });
  };
  const present = readdirSync(etc);
  for (const entry of ETC_ENTRIES) {
    for (const name of typeof entry === 'string' ? [entry] : present.filter((one) => entry.test(one))) add(join(etc, name), true);
  }
  return items;
}

/** Copies the items to a folder that stands for /etc, with an empty file wherever a generated one will be mounted. */
function build(items: readonly Item[], etc: string, folder: string): void {
  const at = (path: string): string => join(folder, path.slice(etc.length));
  for (const item of items) {
    mkdirSync(dirname(at(item.path)), { recursive: true, mode: 0o755 });
    if (item.kind === 'folder') mkdirSync(at(item.path), { recursive: true, mode: 0o755 });
    else if (item.kind === 'place') writeFileSync(at(item.path), '', { mode: 0o600 });
    else if (item.kind === 'link') symlinkSync(item.target, at(item.path));
    else writeFileSync(at(item.path), readSmallBytes(item.source, { max: MAX_FILE_BYTES }) ?? '', { mode: 0o644 });
  }
  for (const dest of Object.values(GENERATED_AT)) {
    const place = join(folder, dest.slice('/etc'.length));
    mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
    rmSync(place, { force: true });
    writeFileSync(place, '', { mode: 0o644 });
  }
  for (const [path, text] of Object.entries(SSH_FILES)) {
    mkdirSync(dirname(at(path.replace('/etc', etc))), { recursive: true, mode: 0o755 });
    writeFileSync(at(path.replace('/etc', etc)), text, { mode: 0o644 });
  }
}

/** Where a snapshot of /etc for sandboxes lies, in the folder given; it has a place for each path of /etc that was opened. */
export type EtcSnapshot = (parent: string, opened?: readonly { readonly path: string }[]) => string;

/** What was opened is a real path, so that no folder above it is a link, on the host and in what was listed of it. */
function placesFor(opened: readonly { readonly path: string }[], items: readonly Item[], etc: string): readonly Item[] {
  const there = new Set([...items.map(({ path }) => path), ...Object.values(GENERATED_AT)]);
  const links = items.filter(({ kind }) => kind === 'link');
  return opened
    .filter(({ path }) => within(path, etc) && path !== etc && !there.has(path) && !links.some((link) => within(path, link.path)))
    .map(({ path }): Item => ({ kind: kindOf(path) === 'folder' ? 'folder' : 'place', path }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The selected part of /etc as one folder that is mounted at once: sixty mounts of single files would cost a run more than all the
 * rest of its sandbox. A snapshot is named by what it was made of and never changes; when /etc does, the next look makes a new one.
 */
export function createEtcSnapshot(etc = '/etc'): EtcSnapshot {
  let seen: { readonly items: readonly Item[]; readonly name: string; readonly at: number } | undefined;
  return (parent, opened = []) => {
    if (seen === undefined || performance.now() - seen.at > FRESH_MS) {
      const items = listItems(etc);
      seen = { items, name: `etc-${digestOf(items)}`, at: performance.now() };
    }
    const places = placesFor(opened, seen.items, etc);
    const items = [...seen.items, ...places];
    const snapshot = join(parent, places.length === 0 ? seen.name : `etc-opened-${digestOf(items)}`);
    if (kindOf(snapshot) === 'folder') return snapshot;
    const draft = mkdtempSync(join(parent, '.etc-draft-'));
    build(items, etc, draft);
    chmodSync(draft, 0o755);
    try {
      renameSync(draft, snapshot);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // Another process made the same at the same moment.
      if (kindOf(snapshot) !== 'folder') throw error;
    }
    forgetOldSnapshots(parent, snapshot);
    return snapshot;
  };
}

function digestOf(items: readonly Item[]): string {
  return createHash('sha256')
    .update(JSON.stringify([items, GENERATED_AT, SSH_FILES]))
    .digest('hex')
    .slice(0, 24);
}

function forgetOldSnapshots(parent: string, keep: string): void {
  const names = readdirSync(parent);
  forgetOld(
    parent,
    keep,
    KEPT_SNAPSHOTS,
    names.filter((name) => /^etc-[0-9a-f]{24}$/.test(name)),
  );
  forgetOld(
    parent,
    keep,
    KEPT_OPENED,
    names.filter((name) => /^etc-opened-[0-9a-f]{24}$/.test(name)),
  );
}

function forgetOld(parent: string, keep: string, kept: number, names: readonly string[]): void {
  const old = names
    .map((name) => join(parent, name))
    .filter((path) => path !== keep)
    .map((path) => ({ path, age: look(path)?.ctimeMs ?? 0 }))
    .toSorted((a, b) => b.age - a.age);
  for (const { path } of old.slice(kept)) rmSync(path, { recursive: true, force: true });
}
