import type { OfferKind } from './offered.ts';
import type { JsonObject } from './types.ts';
import type { Upstream } from './upstream.ts';

/** Something of an upstream beside its tools, under the name or address that callers use. */
export interface Offer {
  readonly server: string;
  /** As the upstream knows it: a URI, a template, a prompt's name. */
  readonly own: string;
  /** As it came, under the exposed name. */
  readonly definition: JsonObject;
}

export type Owner =
  | { readonly type: 'owner'; readonly server: string; readonly own: string }
  | { readonly type: 'ambiguous'; readonly servers: readonly string[] };

/** The resources, templates and prompts of several upstreams as one list, and whose each is. */
export interface Offers {
  resources(): Promise<readonly Offer[]>;
  templates(): Promise<readonly Offer[]>;
  prompts(): Promise<readonly Offer[]>;
  /** Whose resource it is: listed, seen in a result, said by its address, or fitting a template of one server. */
  ownerOf(uri: string): Promise<Owner | undefined>;
  promptOwner(name: string): Promise<Owner | undefined>;
  /** Links in a result of a server: remembered as its own, and rewritten where another server has the same address. */
  adopt(server: string, blocks: readonly JsonObject[]): Promise<readonly JsonObject[]>;
}

const MAX_SEEN = 10_000;
const ALIAS = 'writ://upstream/';

export function createOffers(upstreams: readonly Upstream[]): Offers {
  /** Addresses that only came in results. The oldest goes. */
  const seen = new Map<string, Set<string>>();

  async function gather(kind: OfferKind, key: string): Promise<readonly (Offer & { readonly key: string })[]> {
    const lists = await Promise.all(
      upstreams.map(async (upstream) => ({ server: upstream.settings.name, items: await upstream.offers(kind) })),
    );
    return lists.flatMap(({ server, items }) =>
      items.flatMap((definition) => {
        const own = definition[key];
        return typeof own === 'string' ? [{ server, own, definition, key }] : [];
      }),
    );
  }

  /** The first keeps the address; those of others get one that says whose it is. */
  function exposed(offers: readonly (Offer & { readonly key: string })[]): readonly Offer[] {
    const taken = new Map<string, string>();
    return offers.map(({ server, own, definition, key }) => {
      const first = taken.get(own) ?? server;
      taken.set(own, first);
      return first === server ? { server, own, definition } : { server, own, definition: { ...definition, [key]: aliasOf(server, own) } };
    });
  }

  function remember(server: string, uri: string): void {
    const servers = seen.get(uri) ?? new Set();
    seen.delete(uri);
    seen.set(uri, servers.add(server));
    if (seen.size > MAX_SEEN) seen.delete(seen.keys().next().value ?? '');
  }

  async function candidates(uri: string): Promise<readonly string[]> {
    const listed = (await gather('resources', 'uri')).filter(({ own }) => own === uri).map(({ server }) => server);
    const known = new Set([...listed, ...(seen.get(uri) ?? [])]);
    if (known.size > 0) return [...known];
    const fitting = (await gather('templates', 'uriTemplate')).filter(({ own }) => fits(own, uri)).map(({ server }) => server);
    return [...new Set(fitting)];
  }

  const offers: Offers = {
    resources: async () => exposed(await gather('resources', 'uri')),
    templates: async () => exposed(await gather('templates', 'uriTemplate')),
    async prompts() {
      const all = await gather('prompts', 'name');
      return all.map(({ server, own, definition }) => ({ server, own, definition: { ...definition, name: `${server}__${own}` } }));
    },
    async ownerOf(uri) {
      const alias = readAlias(uri);
      if (alias !== undefined)
        return upstreams.some(({ settings }) => settings.name === alias.server) ? { type: 'owner', ...alias } : undefined;
      const servers = await candidates(uri);
      const [server] = servers;
      if (server === undefined) return undefined;
      return servers.length === 1 ? { type: 'owner', server, own: uri } : { type: 'ambiguous', servers };
    },
    async promptOwner(name) {
      const found = (await offers.prompts()).find(({ definition }) => definition['name'] === name);
      return found && { type: 'owner', server: found.server, own: found.own };
    },
    async adopt(server, blocks) {
      const adopted: JsonObject[] = [];
      for (const block of blocks) {
        const { uri, holder } = addressOf(block);
        if (uri === undefined) {
          adopted.push(block);
          continue;
        }
        remember(server, uri);
        const servers = await candidates(uri);
        if (servers.every((one) => one === server)) adopted.push(block);
        else
          adopted.push(
            holder === undefined
              ? { ...block, uri: aliasOf(server, uri) }
              : { ...block, resource: { ...holder, uri: aliasOf(server, uri) } },
          );
      }
      return adopted;
    },
  };
  return offers;
}

/** An address that says whose it is, for one that several servers have. */
export function aliasOf(server: string, uri: string): string {
  return `${ALIAS}${server}/${encodeURIComponent(uri)}`;
}

function readAlias(uri: string): { readonly server: string; readonly own: string } | undefined {
  if (!uri.startsWith(ALIAS)) return undefined;
  const [server = '', own] = uri.slice(ALIAS.length).split('/');
  try {
    return own === undefined ? undefined : { server, own: decodeURIComponent(own) };
  } catch {
    return undefined;
  }
}

function addressOf(block: JsonObject): { readonly uri: string | undefined; readonly holder?: JsonObject } {
  if (block['type'] === 'resource_link') return { uri: typeof block['uri'] === 'string' ? block['uri'] : undefined };
  const { resource } = block;
  if (block['type'] !== 'resource' || typeof resource !== 'object' || resource === null) return { uri: undefined };
  const holder = resource as JsonObject;
  return { uri: typeof holder['uri'] === 'string' ? holder['uri'] : undefined, holder };
}

/** Whether an address can be one of a template: its literal parts in their order, each expression standing for anything. Linear. */
function fits(template: string, uri: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  if (literals.length === 1) return template === uri;
  const first = literals[0] ?? '';
  const last = literals.at(-1) ?? '';
  if (!uri.startsWith(first) || !uri.endsWith(last) || uri.length < first.length + last.length) return false;
  let at = first.length;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, at);
    if (found === -1 || found + literal.length > uri.length - last.length) return false;
    at = found + literal.length;
  }
  return true;
}
