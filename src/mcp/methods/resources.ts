import { toAppError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { failure, INVALID_PARAMS, METHOD_NOT_FOUND, type Members, type Reply } from '../../kernel/json-rpc/message.ts';
import { refusalError, UNEXPECTED } from '../answers.ts';
import type { OutputEntry, OutputPage, Resources } from '../types.ts';
import { type RequestContext, scopeOf, type WorkContext } from './context.ts';
import { askForeign } from './foreign.ts';
import { page } from './page.ts';
import { withCache } from './tools.ts';

const OUTPUT = 'writ://output/';
const ARTIFACT = 'writ://artifact/';
const MIME = 'text/plain';

/** `resources/templates/list` */
export async function listTemplates({ parts, features, params }: RequestContext): Promise<Reply> {
  const output = {
    uriTemplate: `${OUTPUT}{id}{?cursor}`,
    name: 'output',
    ...(features.titles ? { title: 'Output of a command or job' } : {}),
    description: 'Everything a command (exec_...) or job (job_...) wrote, a page at a time.',
    mimeType: MIME,
  };
  const artifact = {
    uriTemplate: `${ARTIFACT}{id}{?cursor}`,
    name: 'artifact',
    ...(features.titles ? { title: 'Artifact of an MCP server' } : {}),
    description: 'What the result of an MCP server was too large for, or a file that it referred to (art_...), a page at a time.',
  };
  await parts.catalogueReady?.();
  const foreign = parts.foreign?.();
  const own = foreign === undefined ? [output] : [output, artifact];
  return withCache(features, page('resourceTemplates', [...own, ...((await foreign?.templates()) ?? [])], params));
}

/** `resources/list` */
export function listResources(context: WorkContext): Promise<Reply> {
  return withResources(context, async (resources) => {
    const entries = await resources.list(await scopeOf(context)).catch((thrown: unknown) => nothing(context, thrown));
    await context.parts.catalogueReady?.();
    const foreign = (await context.parts.foreign?.()?.resources()) ?? [];
    return page('resources', [...entries.map(describe), ...foreign], context.params);
  });
}

/** A list is an offer. Claude Code and Gemini CLI ask for it at the start and hold back or drop all tools of a server where it fails. */
function nothing({ parts, flight }: WorkContext, thrown: unknown): readonly OutputEntry[] {
  if (!flight.signal.aborted) parts.logger.error('the resources could not be listed', { reason: toAppError(thrown).message });
  return [];
}

/** `resources/read` */
export function readResource(context: WorkContext): Promise<Reply> {
  const { params, features, flight } = context;
  return withResources(context, async (resources) => {
    const { uri } = params;
    if (typeof uri !== 'string') return failure(INVALID_PARAMS, 'The member params.uri must be a string');
    const wanted = parseUri(uri);
    const foreign = context.parts.foreign?.();
    if (wanted === undefined && foreign !== undefined)
      return askForeign(context, foreign.tools.resource, { uri }, features.resourceNotFound);
    const scope = await scopeOf(context);
    const output = wanted && (await resources.read(scope, wanted.id, wanted.cursor, flight.signal));
    if (wanted === undefined || output === undefined) return failure(features.resourceNotFound, 'Resource not found', { uri });
    return { result: { contents: contents(uri, wanted.id, output) } };
  });
}

async function withResources(context: WorkContext, work: (resources: Resources) => Promise<Reply>): Promise<Reply> {
  const { parts, features } = context;
  if (parts.resources === undefined) return failure(METHOD_NOT_FOUND, 'Method not found');
  try {
    return withCache(features, await work(parts.resources));
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code !== 'internal') return refusalError(error);
    parts.logger.error('a resource could not be read', { reason: error.message });
    return refusalError({ code: 'internal', message: UNEXPECTED });
  }
}

function parseUri(uri: string): { id: string; cursor: number } | undefined {
  const [, kind, id, cursor = '0'] = /^writ:\/\/(output|artifact)\/([a-z]{3,4}_[0-9a-z]{22})(?:\?cursor=(\d{1,15}))?$/.exec(uri) ?? [];
  const known = kind === 'artifact' ? isId('art', id) : isId('exec', id) || isId('job', id);
  return known && id !== undefined ? { id, cursor: Number(cursor) } : undefined;
}

function uriOf(id: string): string {
  return (isId('art', id) ? ARTIFACT : OUTPUT) + id;
}

function describe({ id, name, description, bytes, mime_type }: OutputEntry): Members {
  return {
    uri: uriOf(id),
    name,
    ...(description === undefined ? {} : { description }),
    mimeType: mime_type ?? MIME,
    ...(bytes === undefined ? {} : { size: bytes }),
  };
}

/** The page, and where it isn't the last one a second item that says how to read on. */
function contents(uri: string, id: string, output: OutputPage): readonly Members[] {
  const { mime_type = MIME, origin, next_cursor } = output;
  const first = {
    uri,
    mimeType: mime_type,
    ...('text' in output ? { text: output.text } : { blob: output.blob }),
    ...(origin === undefined ? {} : { _meta: { 'writ/origin': origin } }),
  };
  if (next_cursor === undefined) return [first];
  const next = `${uriOf(id)}?cursor=${next_cursor}`;
  return [first, { uri: next, mimeType: MIME, text: `[there is more: read ${next}]` }];
}
