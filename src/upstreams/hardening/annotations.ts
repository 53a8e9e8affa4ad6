import { isObject } from '../../kernel/json-rpc/message.ts';

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/** First words of names and descriptions that say that something is changed, and that something is lost for good. */
const CHANGES = 'write|update|insert|upload|publish|deploy|install|uninstall|send|remove|revoke|overwrite|rename|kill|terminate';
const LOSES = 'delete|wipe|erase|destroy|purge|truncate|drop|shred|format';

/** Why annotations can't be handed on, as the end of a sentence; undefined: they can. */
export function findAnnotationProblem(annotations: unknown): string | undefined {
  if (annotations === undefined) return undefined;
  if (!isObject(annotations)) return 'is not an object';
  for (const hint of HINTS) {
    const value = annotations[hint];
    if (value !== undefined && typeof value !== 'boolean') return `has a ${hint} that is neither true nor false`;
  }
  return annotations['title'] !== undefined && typeof annotations['title'] !== 'string' ? 'has a title that is not a text' : undefined;
}

/** Hints that contradict each other, or the tool's own name and description. */
export function contradictions(tool: {
  readonly name: string;
  readonly description?: unknown;
  readonly annotations?: unknown;
}): readonly string[] {
  const hints = isObject(tool.annotations) ? tool.annotations : {};
  const readOnly = hints['readOnlyHint'] === true;
  const found: string[] = [];
  if (readOnly && hints['destructiveHint'] === true) found.push('says that it only reads and that it destroys');
  const change = firstWord(tool, `${CHANGES}|${LOSES}`);
  if (readOnly && change !== undefined) found.push(`says that it only reads, but by its ${change.where} it is there to ${change.word}`);
  const loss = firstWord(tool, LOSES);
  if (!readOnly && hints['destructiveHint'] === false && loss !== undefined) {
    found.push(`says that it destroys nothing, but by its ${loss.where} it is there to ${loss.word}`);
  }
  return found;
}

function firstWord(
  tool: { readonly name: string; readonly description?: unknown },
  words: string,
): { readonly where: string; readonly word: string } | undefined {
  // snake_case, kebab-case, camelCase and CAPITALS; "dropbox" is no word of the list.
  const spelled =
    tool.name === tool.name.toUpperCase() ? tool.name.toLowerCase() : `${tool.name.charAt(0).toLowerCase()}${tool.name.slice(1)}`;
  const name = new RegExp(`^(${words})(?:[_-]|(?=[A-Z])|$)`).exec(spelled)?.[1];
  if (name !== undefined) return { where: 'name', word: name };
  // Third person or imperative: "Deletes the record", "Delete the record". A look at the beginning is enough.
  const text = typeof tool.description === 'string' ? tool.description.slice(0, 200).trimStart() : '';
  const said = new RegExp(`^(${words})(?:e?s)?\\s`, 'i').exec(text)?.[1];
  return said === undefined ? undefined : { where: 'description', word: said.toLowerCase() };
}
