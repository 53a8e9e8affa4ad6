import { mayBe } from '../glob.ts';
import { DEEP, HOLE, isKnown, isUnknown, STAR, type Text } from '../text.ts';
import type { AssessContext, Effect, Opening, Verdict } from '../types.ts';
import { createPathTable } from './match.ts';
import { components, exact, type Place, pathOf, places as placesOf, within } from './place.ts';
import { CACHE_HOMES, LEFT_BEHIND, NOT_SECRET, SCRATCH, SECRETS, STARTUP, TEMPORARY, TOOL_HOMES, VISIBLE, VISIBLE_ETC } from './tables.ts';

export interface PathJudgement {
  readonly effect: Effect;
  readonly verdict?: Verdict;
  readonly reason: string;
  readonly opens?: Opening;
}

/** The one place that says what touching a path means. A word may stand for several places; each gives its own judgement. */
export interface PathPolicy {
  read(word: Text, cwd: readonly Text[]): readonly PathJudgement[];
  write(word: Text, cwd: readonly Text[]): readonly PathJudgement[];
  remove(word: Text, cwd: readonly Text[], recursive: boolean): readonly PathJudgement[];
  /** Where a program file lies. */
  program(word: Text, cwd: readonly Text[]): 'project' | 'elsewhere' | 'unknown';
  /** The path as a key for what this command wrote there. */
  key(word: Text, cwd: readonly Text[]): readonly Text[];
  /** A symbolic link is made: from here on paths below it lead below its target, too. */
  link(link: Text, target: Text, cwd: readonly Text[]): void;
  /** `cd` there can't fail. */
  exists(word: Text, cwd: readonly Text[]): boolean;
}

const SECRET = createPathTable(SECRETS);
const HARMLESS = createPathTable(NOT_SECRET, true);
const RUNS_LATER = createPathTable(STARTUP);
const TEMP = TEMPORARY.map(components);
const SEEN = VISIBLE.map(components);
const ETC = createPathTable(VISIBLE_ETC.map((name) => `/etc/${name}/**`));
/** Folders above these, which are there with what is shown of them. */
const ABOVE_ETC = new Set(
  VISIBLE_ETC.flatMap((name) =>
    name
      .split('/')
      .slice(0, -1)
      .map((_, i, parts) => parts.slice(0, i + 1).join('/')),
  ),
);

/** Whatever a pattern stands for inside is there. */
function isShownOfEtc({ components: parts, open }: Place): boolean {
  if (open || parts[0] !== 'etc') return false;
  return !parts.every(isKnown) || ETC.matches(parts, undefined) || ABOVE_ETC.has(parts.slice(1).join('/'));
}

/** A component that can't be `..`, whatever it stands for. */
const staysBelow = (part: Text): boolean => !isUnknown(part) && (isKnown(part) || !part.startsWith('.'));

/** Whether a pattern could stand for this name, be it in a shell that heeds no case. */
const mayFit = (part: Text, name: string): boolean => mayBe(part)(name) || mayBe(part.toLowerCase())(name.toLowerCase());

/** More meanings of one word than this, and it may be anything. */
const MAX_PLACES = 64;
const STREAMS = /^\/dev\/(null|zero|full|tty|stdin|stdout|stderr|random|urandom|fd\/.*)$/;
const BLOCK_DEVICE =
  /^\/dev\/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d|sr\d|disk\d|rdisk\d|mapper\/|disk\/|nbd\d|zd\d)/;
const KERNEL_MEMORY = /^\/dev\/(mem|kmem|port)$/;

export const isBlockDevice = (path: Text): boolean => BLOCK_DEVICE.test(path);

export function createPathPolicy(context: AssessContext): PathPolicy {
  const home = components(context.home);
  const workspaces = context.workspaces.map(components);
  const readable = (context.readable ?? []).map(components);

  /** Components below a home: the person's own, or what looks like another's. */
  function belowHome(place: Place): readonly Text[] | undefined {
    const { components: parts } = place;
    if (parts.length >= home.length && home.every((part, i) => parts[i] === part)) return parts.slice(home.length);
    if (parts[0] === 'root') return parts.slice(1);
    if ((parts[0] === 'home' || parts[0] === 'Users') && parts.length > 1) return parts.slice(2);
    return undefined;
  }

  const inWorkspace = (place: Place): boolean => workspaces.some((base) => within(place, base));
  const inTemporary = (place: Place): boolean => TEMP.some((base) => within(place, base));

  /** A home, what holds it, or a folder right below the root: too much to open by one yes. */
  const holdsMuch = (place: Place): boolean =>
    place.components.length <= 1 ||
    (place.components.every((part, i) => i >= home.length || part === home[i]) && place.components.length <= home.length);

  function readPlace(place: Place): PathJudgement | undefined {
    const path = pathOf(place);
    const named = exact(place);
    const opens: { opens?: Opening } =
      named === undefined || holdsMuch(place) ? {} : { opens: { type: 'path', path: named, access: 'read' } };
    const below = belowHome(place);
    if (SECRET.matches(place.components, below) && !HARMLESS.matches(place.components, below)) {
      // A template is harmless only where the name is certain.
      return { effect: 'credential_access', reason: 'reads a file that holds secrets', ...opens };
    }
    if (place.open) return { effect: 'unknown', reason: 'reads a path that cannot be known from the text' };
    if (inWorkspace(place) || inTemporary(place) || [...readable, ...SEEN].some((base) => within(place, base))) return undefined;
    if (STREAMS.test(path) || place.components.length <= 1 || isShownOfEtc(place)) return undefined;
    if (below !== undefined && (below.length === 0 || TOOL_HOMES.has(below[0] ?? '')) && within(place, home)) return undefined;
    return { effect: 'safe', verdict: 'prompt', reason: 'reads a path that containment hides', ...opens };
  }

  function writePlace(place: Place): PathJudgement | undefined {
    const path = pathOf(place);
    if (STREAMS.test(path) && !place.open) return undefined;
    if (BLOCK_DEVICE.test(path) || KERNEL_MEMORY.test(path)) return { effect: 'blocked', reason: 'writes to a raw device' };
    const named = exact(place);
    const opens: { opens?: Opening } =
      named === undefined || holdsMuch(place) ? {} : { opens: { type: 'path', path: named, access: 'write' } };
    const below = belowHome(place);
    if (RUNS_LATER.matches(place.components, below)) {
      return { effect: 'persistence', reason: 'writes a file that makes something run or connect later', ...opens };
    }
    if (place.open) return { effect: 'unknown', reason: 'writes to a path that cannot be known from the text' };
    if (inWorkspace(place)) return { effect: 'local_write', reason: 'writes in the workspace' };
    if (inTemporary(place)) return { effect: 'local_write', reason: 'writes a temporary file' };
    if (below !== undefined && below.length > 1 && CACHE_HOMES.has(below[0] ?? '') && within(place, home)) {
      return { effect: 'local_write', reason: 'writes in a cache of the private home' };
    }
    return { effect: 'system_write', reason: 'writes outside the workspace', ...opens };
  }

  /** The root, a home, or all of what is directly in one: nothing anybody ever means. */
  function isWipe(place: Place): boolean {
    const { components: parts } = place;
    const last = parts.at(-1);
    const everything = last !== undefined && !isKnown(last) && !/[\p{L}\p{N}_]/u.test(last.replace(/\uFDD6.*?\uFDD7/gs, ''));
    const folder = everything ? parts.slice(0, -1) : parts;
    if (folder.length === 0) return true;
    const above = folder.length <= home.length && folder.every((part, i) => part === home[i]);
    const other = folder[0] === 'root' ? folder.length === 1 : (folder[0] === 'home' || folder[0] === 'Users') && folder.length <= 2;
    return above || other;
  }

  /** A workspace below a temporary folder is no temporary file: what is removed above or inside it, by name or by a pattern that fits, takes it along. */
  function mayReachWorkspace({ components: parts }: Place): boolean {
    return workspaces.some((base) => {
      // One that may stand for several folders, as `**` does in some shells, leads anywhere from there on.
      const deep = parts.findIndex((part) => part.includes(DEEP) || part === STAR);
      const compared = Math.min(base.length, parts.length, deep < 0 ? parts.length : deep);
      return parts.slice(0, compared).every((part, i) => part === base[i] || (!isKnown(part) && mayFit(part, base[i] ?? '')));
    });
  }

  function removePlace(place: Place, recursive: boolean): readonly PathJudgement[] {
    const path = pathOf(place);
    if (place.open) return [{ effect: 'destructive', reason: 'removes something that cannot be known from the text' }];
    if (isWipe(place) && !inWorkspace(place)) {
      const found: PathJudgement[] = [
        { effect: 'destructive', reason: `removes ${path.length > 1 ? 'a home or a folder above it' : 'the whole system'}` },
      ];
      if (recursive) found.push({ effect: 'blocked', reason: 'wipes the root or a home' });
      return found;
    }
    if (BLOCK_DEVICE.test(path)) return [{ effect: 'destructive', reason: 'removes a device' }];
    const workspace = workspaces.find((base) => within(place, base));
    const temporary = TEMP.some((base) => within(place, base));
    if (temporary && workspace === undefined && !mayReachWorkspace(place))
      return [{ effect: 'local_write', reason: 'removes temporary files' }];
    if (workspace === undefined) return [{ effect: 'destructive', reason: 'removes something outside the workspace' }];
    const inside = place.components.slice(workspace.length);
    if (RUNS_LATER.matches(place.components, belowHome(place)) && !(inside.length === 1 && inside[0] === '.git')) {
      return [{ effect: 'persistence', reason: 'removes a file that decides what runs later' }];
    }
    const scratch = inside.findIndex(
      (part, i) => SCRATCH.has(part) || (i === inside.length - 1 && !recursive && LEFT_BEHIND.test(part) && staysBelow(part)),
    );
    if (scratch >= 0 && inside.slice(0, scratch).every(staysBelow))
      return [{ effect: 'local_write', reason: 'removes files that tools build again' }];
    const single = !recursive && inside.length > 0 && inside.every(isKnown);
    if (single) return [{ effect: 'local_write', reason: 'removes a named file of the workspace' }];
    return [{ effect: 'destructive', verdict: 'prompt', reason: 'removes files of the workspace for good' }];
  }

  /** Links made by this very command, newest last; the machine doesn't know them yet. */
  const links: { readonly from: readonly Text[]; readonly to: Place }[] = [];

  function places(word: Text, cwd: readonly Text[]): readonly Place[] {
    const found = [...placesOf(word, cwd, context)];
    // A place found through a link may lie below another one; each link is followed once.
    for (const { from, to } of links) {
      for (const place of [...found]) {
        if (place.components.length < from.length || !from.every((part, i) => place.components[i] === part)) continue;
        found.push({ components: [...to.components, ...place.components.slice(from.length)], open: to.open || place.open });
      }
      if (found.length > MAX_PLACES) return [{ components: [HOLE], open: true }];
    }
    return found;
  }

  const all = (word: Text, cwd: readonly Text[], judge: (place: Place) => PathJudgement | undefined): readonly PathJudgement[] =>
    places(word, cwd).flatMap((place) => judge(place) ?? []);

  return {
    read: (word, cwd) => all(word, cwd, readPlace),
    write: (word, cwd) => all(word, cwd, writePlace),
    remove: (word, cwd, recursive) => places(word, cwd).flatMap((place) => removePlace(place, recursive)),
    program: (word, cwd) => {
      const found = places(word, cwd);
      if (found.some((place) => place.open || !place.components.every(isKnown))) return 'unknown';
      return found.every((place) => inWorkspace(place) || inTemporary(place)) ? 'project' : 'elsewhere';
    },
    key: (word, cwd) => places(word, cwd).map(pathOf),
    link: (link, target, cwd) => {
      for (const place of placesOf(link, cwd, context)) {
        const folder = pathOf({ components: place.components.slice(0, -1), open: place.open });
        for (const to of placesOf(target, [folder], context)) if (links.length < MAX_PLACES) links.push({ from: place.components, to });
      }
    },
    exists: (word, cwd) =>
      places(word, cwd).every(
        (place) =>
          workspaces.some((base) => pathOf(place) === `/${base.join('/')}`) ||
          place.components.length === 0 ||
          ['/tmp', context.home].includes(pathOf(place)),
      ),
  };
}
