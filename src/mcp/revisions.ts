import type { ErrorCode } from '../kernel/errors.ts';

/** What a revision of the protocol allows, as far as it changes what we send. */
export interface Features {
  /** `handshake`: `initialize` binds the connection. `stateless`: every request says everything in its `_meta`. */
  readonly era: 'handshake' | 'stateless';
  /** JSON-RPC batches (only ever in 2025-03-26). */
  readonly batches: boolean;
  /** `outputSchema`, `structuredContent` of our own tools. */
  readonly structured: boolean;
  /** The same of an upstream's tools, which are passed on as they are: `object` until 2025-11-25, any JSON since. */
  readonly foreignStructured: 'none' | 'object' | 'any';
  /** `title` beside `name`. */
  readonly titles: boolean;
  /** Errors without a readable id: the older schemas demand an id, so JSON-RPC's own `null`; the newer ones leave it out. */
  readonly unknownId: 'null' | 'absent';
  /** How a person at the client is asked: while the call waits, or with an answer that makes the client call again. */
  readonly asks: 'never' | 'in_call' | 'with_answer';
  /** Questions come as a form or as the address of a page; before, only as a form. */
  readonly elicitationModes: boolean;
  /** Choices with titles as `oneOf`; before, as `enum` and `enumNames`. */
  readonly titledEnums: boolean;
  /** Code for a resource that isn't there. */
  readonly resourceNotFound: number;
  /** Refusals that are protocol errors; all others are tool results, which a model gets to read. */
  readonly protocolErrors: readonly ErrorCode[];
}

/** Newest first. */
export const REVISIONS = {
  '2026-07-28': {
    era: 'stateless',
    batches: false,
    structured: true,
    foreignStructured: 'any',
    titles: true,
    unknownId: 'absent',
    asks: 'with_answer',
    elicitationModes: true,
    titledEnums: true,
    resourceNotFound: -32602,
    protocolErrors: ['unknown_tool', 'internal'],
  },
  '2025-11-25': {
    era: 'handshake',
    batches: false,
    structured: true,
    foreignStructured: 'object',
    titles: true,
    unknownId: 'absent',
    asks: 'in_call',
    elicitationModes: true,
    titledEnums: true,
    resourceNotFound: -32002,
    protocolErrors: ['unknown_tool', 'internal'],
  },
  '2025-06-18': {
    era: 'handshake',
    batches: false,
    structured: true,
    foreignStructured: 'object',
    titles: true,
    unknownId: 'null',
    asks: 'in_call',
    elicitationModes: false,
    titledEnums: false,
    resourceNotFound: -32002,
    protocolErrors: ['unknown_tool', 'invalid_arguments', 'internal'],
  },
  '2025-03-26': {
    era: 'handshake',
    batches: true,
    structured: false,
    foreignStructured: 'none',
    titles: false,
    unknownId: 'null',
    asks: 'never',
    elicitationModes: false,
    titledEnums: false,
    resourceNotFound: -32002,
    protocolErrors: ['unknown_tool', 'invalid_arguments', 'internal'],
  },
} as const satisfies Record<string, Features>;

export type Revision = keyof typeof REVISIONS;

export const SUPPORTED_REVISIONS = Object.keys(REVISIONS) as readonly Revision[];

export function isRevision(value: string): value is Revision {
  return Object.hasOwn(REVISIONS, value);
}

export function featuresOf(revision: Revision): Features {
  return REVISIONS[revision];
}

/** The answer to `initialize`: the asked one if it is of that era, else the newest of that era. */
export function negotiate(requested: string): Revision {
  return isRevision(requested) && featuresOf(requested).era === 'handshake' ? requested : '2025-11-25';
}
