/** Values that turn out to be secret while Writ runs: of its own store, of logins. Shared by redactors that serve the same upstreams. */
export interface Learned {
  /** Of one source (a server's settings, a login); its newest `MAX_OF_SOURCE` are kept: an older one of a token is worth nothing by then. */
  add(source: string, values: readonly string[]): void;
  values(): readonly string[];
  /** Another number means that there are others now. */
  version(): number;
}

export const MAX_OF_SOURCE = 64;
/** The one that said nothing new for longest goes. */
export const MAX_SOURCES = 128;

export function createLearned(): Learned {
  const sources = new Map<string, Set<string>>();
  let version = 0;
  return {
    add(source, given) {
      const known = sources.get(source) ?? new Set();
      const fresh = given.filter((value) => value !== '' && !known.has(value));
      if (fresh.length === 0) return;
      for (const value of fresh) known.add(value);
      for (const oldest of known) {
        if (known.size <= MAX_OF_SOURCE) break;
        known.delete(oldest);
      }
      sources.delete(source);
      sources.set(source, known);
      const [oldest] = sources.keys();
      if (sources.size > MAX_SOURCES && oldest !== undefined) sources.delete(oldest);
      version++;
    },
    values: () => [...new Set([...sources.values()].flatMap((values) => [...values]))],
    version: () => version,
  };
}
