import type { Members, Reply } from '../../kernel/json-rpc/message.ts';
import { TASKS } from '../relaying.ts';
import type { Features, Revision } from '../revisions.ts';
import { SUPPORTED_REVISIONS } from '../revisions.ts';
import type { ServerFacts, ServerParts } from '../types.ts';
import type { RequestContext } from './context.ts';
import { CACHE } from './page.ts';

/** Only what is really there: a capability is a promise. */
function capabilities(parts: ServerParts): Members {
  const changing = parts.onChange === undefined ? {} : { listChanged: true };
  const foreign = parts.foreign?.();
  return {
    tools: changing,
    ...(parts.resources === undefined ? {} : { resources: foreign === undefined ? {} : { subscribe: true, ...changing } }),
    ...(foreign === undefined ? {} : { prompts: changing, completions: {}, logging: {} }),
  };
}

function instructions({ instructions, foreign }: ServerParts): string {
  const more = foreign?.()?.instructions() ?? '';
  return more === '' ? instructions : `${instructions}\n\n${more}`;
}

export function serverInfo({ name, version, title }: ServerFacts, features: Features): Members {
  return { name, version, ...(title === undefined || !features.titles ? {} : { title }) };
}

/** The result of `initialize` (2025-11-25 and earlier). */
export function initializeResult(parts: ServerParts, revision: Revision, features: Features): Members {
  return {
    protocolVersion: revision,
    capabilities: capabilities(parts),
    serverInfo: serverInfo(parts.server, features),
    instructions: instructions(parts),
  };
}

/** `server/discover` (2026-07-28). */
export function discover({ parts }: RequestContext): Reply {
  const extensions = parts.foreign?.() === undefined ? {} : { extensions: { [TASKS]: {} } };
  return {
    result: {
      supportedVersions: SUPPORTED_REVISIONS,
      capabilities: { ...capabilities(parts), ...extensions },
      instructions: instructions(parts),
      ...CACHE,
    },
  };
}
