import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { type BoundAnswer, createReadArtifact, type Tool } from '../../tools/index.ts';
import { type ArtifactStore, boundResult, containmentHint, createArtifacts, type Upstreams, untrustedLine } from '../../upstreams/index.ts';
import type { JsonObject, UpstreamSettings } from '../../upstreams/types.ts';

export interface ResultParts {
  readonly home: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}

/** What becomes of the results of upstreams, and how the rest of one is read. Loaded only where there are upstreams. */
export interface Results {
  bound(offers: Upstreams['offers']): BoundAnswer;
  readonly store: ArtifactStore;
  readonly tool: Tool;
}

export function createResults({ home, clock, logger, redactor }: ResultParts): Results {
  const store = createArtifacts({ home, clock, logger });
  return {
    store,
    tool: createReadArtifact({ store, redactor, labelOf: untrustedLine }) as Tool,
    bound: (offers) => async (result, call) => {
      const { content, structured, is_error, meta, evidence, origins } = await boundResult(result, { ...call, store, redactor });
      return {
        structured: {},
        text: '',
        foreign: {
          content: [...(await offers.adopt(call.settings.name, content)), ...(is_error ? hinted(call.settings, content) : [])],
          ...(structured === undefined ? {} : { structured }),
          is_error,
          ...(meta === undefined ? {} : { meta }),
        },
        evidence,
        origins,
      };
    },
  };
}

/** Writ's own word, below the line that says what came from the server. */
function hinted(settings: UpstreamSettings, content: readonly JsonObject[]): readonly JsonObject[] {
  const hint = containmentHint(settings, content.map(({ text }) => (typeof text === 'string' ? text.slice(0, LOOKED_AT) : '')).join('\n'));
  return hint === undefined ? [] : [{ type: 'text', text: hint }];
}
const LOOKED_AT = 4_000;
