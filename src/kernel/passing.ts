/** What comes and goes with every call, in the order in which it came. */
export interface Passing<T> {
  readonly size: number;
  /** Gives back how it goes; that says whether it was still there. */
  add(item: T): () => boolean;
  values(): readonly T[];
}

/** What is left of one that went names nothing. */
interface Link<T> {
  item: T | undefined;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * A list whose links are emptied when they go. A Map or a Set is built anew whenever so many have come and gone, and the table that it
 * leaves behind still names what was in it then. Where that table is old already, collecting the young takes all of this for alive and
 * moves it to the old, with everything that hangs on it: for requests, most of what they allocate.
 */
export function createPassing<T>(): Passing<T> {
  const ends: { first: Link<T> | undefined; last: Link<T> | undefined } = { first: undefined, last: undefined };
  let size = 0;

  function remove(link: Link<T>): boolean {
    const { before, after } = link;
    if (link.item === undefined) return false;
    if (before === undefined) ends.first = after;
    else before.after = after;
    if (after === undefined) ends.last = before;
    else after.before = before;
    link.item = undefined;
    link.before = undefined;
    link.after = undefined;
    size--;
    return true;
  }

  return {
    get size() {
      return size;
    },
    add(item) {
      const link: Link<T> = { item, before: ends.last, after: undefined };
      if (ends.last === undefined) ends.first = link;
      else ends.last.after = link;
      ends.last = link;
      size++;
      return () => remove(link);
    },
    values() {
      const items: T[] = [];
      for (let link = ends.first; link !== undefined; link = link.after) if (link.item !== undefined) items.push(link.item);
      return items;
    },
  };
}
