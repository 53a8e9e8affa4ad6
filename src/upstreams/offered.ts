import { toAppError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { hardenItems, type OtherKind } from './hardening/harden-others.ts';
import type { JsonObject } from './types.ts';
import type { UpstreamClient } from './wire/client.ts';

/** By the method that lists them: the capability that announces it, and the member that holds them. */
const OFFERS = {
  resources: { capability: 'resources', method: 'resources/list', member: 'resources', kind: 'resource' },
  templates: { capability: 'resources', method: 'resources/templates/list', member: 'resourceTemplates', kind: 'template' },
  prompts: { capability: 'prompts', method: 'prompts/list', member: 'prompts', kind: 'prompt' },
} as const satisfies Record<string, { capability: string; method: string; member: string; kind: OtherKind }>;
export type OfferKind = keyof typeof OFFERS;

/** What one upstream offers beside tools, read once per connection and again when it says that it changed. */
export interface Offered {
  /** Never rejects: an empty list where there is none. */
  get(kind: OfferKind): Promise<readonly JsonObject[]>;
  /** What a notification says is another list now; undefined: it says something else. */
  outdatedBy(method: string): 'resources' | 'prompts' | undefined;
  /** It was connected anew. */
  clear(): void;
}

export interface OfferedParts {
  readonly name: string;
  readonly logger: Logger;
  readonly timeout_ms: number;
  readonly ended: AbortSignal;
  client(): UpstreamClient | undefined;
}

export function createOffered({ name, logger, timeout_ms, ended, client }: OfferedParts): Offered {
  const known = new Map<OfferKind, Promise<readonly JsonObject[]>>();

  async function read(kind: OfferKind, current: UpstreamClient): Promise<readonly JsonObject[]> {
    const { capability, method, member } = OFFERS[kind];
    if (!(capability in current.capabilities)) return [];
    try {
      return sound(kind, await current.list(method, member, { timeout_ms, signal: ended }));
    } catch (thrown) {
      known.delete(kind);
      // Many servers announce what they don't have.
      logger.debug(`${method} of "${name}" failed`, { reason: toAppError(thrown).message });
      return [];
    }
  }

  /** A bad one is left out with its reason, and so is one that reads like an attack: nobody approves these one by one. */
  function sound(kind: OfferKind, items: readonly unknown[]): readonly JsonObject[] {
    return hardenItems({ kind: OFFERS[kind].kind, items }).flatMap((one) => {
      const problem = one.type === 'reject' ? one.reason : one.type === 'flag' && one.held ? one.flags.join(' ') : undefined;
      if (problem === undefined && one.type !== 'reject') return [one.definition];
      logger.warn(`a ${OFFERS[kind].kind} of "${name}" is left out: ${one.type === 'reject' ? one.name : one.key}: ${problem}`);
      return [];
    });
  }

  return {
    get(kind) {
      const found = known.get(kind);
      if (found !== undefined) return found;
      const current = client();
      if (current === undefined) return Promise.resolve([]);
      const reading = read(kind, current);
      known.set(kind, reading);
      return reading;
    },
    outdatedBy(method) {
      let outdated: 'resources' | 'prompts' | undefined;
      for (const [kind, { capability }] of Object.entries(OFFERS)) {
        if (method !== `notifications/${capability}/list_changed`) continue;
        known.delete(kind as OfferKind);
        outdated = capability;
      }
      return outdated;
    },
    clear: () => known.clear(),
  };
}
