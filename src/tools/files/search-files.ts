import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { FilesView, SearchEnd } from '../../execution/types.ts';
import { AppError } from '../../kernel/errors.ts';
import { parseWith, wireSchema } from '../schema.ts';
import type { CallContext, Tool, ToolOutput } from '../tool.ts';
import type { FileAccess, Found } from './access.ts';
import { fileError } from './file-error.ts';
import type { Markers } from './markers.ts';
import { look, within } from './resolve.ts';
import { createEventReader, type SearchEvent } from './ripgrep-events.ts';
import { checkGlob, contentArgs, globArgs, listArgs, patternProblem } from './search-args.ts';
import { createHits, type Hits } from './search-hits.ts';
import { maskHits } from './search-mask.ts';

const TIMEOUT_MS = 30_000;
const MAX_LIMIT = 500;
const MAX_PATTERN = 4096;
/** Names that a glob with folders may select. */
const MAX_NAMES = 200_000;

const input = z.strictObject({
  pattern: z
    .string()
    .describe(
      'target "content": a regular expression (Rust syntax, per line, no look-around). target "files": a glob such as "*.ts" or "src/**/*.ts".',
    ),
  target: z.enum(['content', 'files']).default('content').describe('Search in files, or for files by name.'),
  path: z.string().min(1).default('.').describe('Folder or file to search; the Workspace if left out.'),
  file_glob: z
    .string()
    .optional()
    .describe('Only files of this glob: without a slash it is compared with the name, else with the path below `path`.'),
  limit: z.int().min(1).max(MAX_LIMIT).default(50).describe('Most matches in the answer.'),
  offset: z.int().min(0).max(1_000_000).default(0).describe('Matches to pass over; see next_offset.'),
  context: z.int().min(0).max(20).default(0).describe('Lines around each match.'),
  ignore_case: z.boolean().default(false),
  literal: z.boolean().default(false).describe('The pattern is plain text.'),
  include_ignored: z
    .boolean()
    .default(false)
    .describe('Search hidden folders, what .gitignore names, and node_modules, vendor, dist, build, target, too.'),
});
type Call = z.infer<typeof input>;

const lineShape = z.object({ path: z.string(), line: z.int().describe('0 for a file.'), text: z.string() });
const output = z.object({
  matches: z.array(lineShape).describe('By path, then line; files newest first. Paths are relative to the Workspace where they lie in it.'),
  context: z.array(lineShape),
  total: z.int().describe('Matches found.'),
  total_exact: z.boolean().describe('false: counting was stopped, there are more.'),
  truncated: z.boolean(),
  next_offset: z.int().nullable(),
  skipped: z.array(z.object({ path: z.string(), why: z.string() })).describe('Files with matches that are not shown.'),
  notes: z.array(z.string()),
});

export function createSearchFiles(access: FileAccess, view: () => Promise<FilesView>, markers: Markers): Tool<Call> {
  return {
    name: 'search_files',
    description:
      'Search the contents of files (ripgrep, regular expression) or find files by name (glob). Leaves out what .gitignore names, hidden folders, dependencies, build results, binary and secret files; ' +
      'a folder named as `path` is always searched.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Search files', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: (call, context) => {
      const problem = problemOf(call);
      return problem ?? access.assess('search_files', [{ access: 'read', path: call.path }], context);
    },
    run: (call, context, decision) =>
      access.reach(
        'search_files',
        [{ access: 'read', path: call.path }],
        { path: call.path, access: 'read' },
        context,
        decision,
        async (found) => search({ call, context, found, access, markers, view: await view() }),
      ),
  };
}

function problemOf({ pattern, target, file_glob }: Call): AppError | undefined {
  try {
    if (target === 'files') {
      checkGlob('pattern', pattern);
      if (file_glob !== undefined)
        throw fileError('bad_args', 'file_glob: belongs to target "content"; for files the pattern is the glob.');
    } else if (pattern === '' || pattern.length > MAX_PATTERN || pattern.includes('\0')) {
      throw fileError('bad_pattern', `pattern: must have 1 to ${MAX_PATTERN} characters and no NUL.`);
    }
    if (file_glob !== undefined) checkGlob('file_glob', file_glob);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
}

interface Search {
  readonly call: Call;
  readonly context: CallContext;
  readonly found: Found;
  readonly access: FileAccess;
  readonly markers: Markers;
  readonly view: FilesView;
}

async function search(given: Search): Promise<ToolOutput> {
  const { call, context, found } = given;
  const problem = problemOf(call);
  if (problem) throw problem;
  const there = look(found.host);
  if (!found.exists || !there) throw fileError('not_found', `${found.path} does not exist.`);
  if (!there.isDirectory() && !there.isFile()) throw fileError('not_a_file', `${found.path} is neither a file nor a folder.`);
  const folder = found.folder ? found.path : dirname(found.path);
  const root = context.workspaces[0]?.path ?? '/';
  const shown = (name: string): string => {
    const path = join(folder, name);
    return path !== root && within(path, root) ? path.slice(root.length + 1) : path;
  };
  const hits = createHits(call, {
    nameOf: shown,
    secret: (name) => given.access.isSecret(join(folder, name), found.scene, context),
  });
  const only = await namesOf(given, folder);
  const end = call.target === 'files' ? await files(given, folder, hits, only) : await contents(given, folder, hits, only);
  refuseBad(end);
  const result = await maskHits(hits.result(), { folder, scene: found.scene, markers: given.markers, signal: context.signal });
  return answer(call, result, end);
}

/** The files that a glob with folders names, or undefined where any may be meant. */
async function namesOf({ call, found, view, context }: Search, folder: string): Promise<ReadonlySet<string> | undefined> {
  const glob = call.target === 'files' ? call.pattern : call.file_glob;
  if (!glob?.includes('/') || !found.folder) return undefined;
  const names = new Set<string>();
  const read = createNameReader();
  const end = await view.search(
    {
      ...{ scene: found.scene, root: found.path, folder, timeout_ms: TIMEOUT_MS },
      args: globArgs(call.include_ignored, glob),
      onOutput: (chunk) => {
        for (const name of read(chunk)) names.add(name);
        return names.size < MAX_NAMES;
      },
    },
    context.signal,
  );
  refuseBad(end);
  if (end.ended === 'by_itself') return names;
  throw fileError('too_large', `"${glob}" names more files than can be searched at once.`, 'Search a folder below, with `path`.');
}

function files(
  { call, found, view, context }: Search,
  folder: string,
  hits: Hits,
  only: ReadonlySet<string> | undefined,
): Promise<SearchEnd> {
  const read = createNameReader();
  return view.search(
    {
      ...{ scene: found.scene, root: found.path, folder, timeout_ms: TIMEOUT_MS },
      args: listArgs(call.include_ignored, call.pattern, operandOf(found)),
      onOutput: (chunk) => {
        for (const name of read(chunk)) if ((only === undefined || only.has(name)) && !hits.file(name)) return false;
        return true;
      },
    },
    context.signal,
  );
}

function contents(
  { call, found, view, context }: Search,
  folder: string,
  hits: Hits,
  only: ReadonlySet<string> | undefined,
): Promise<SearchEnd> {
  const read = createEventReader(() => hits.counts());
  const wanted = (event: SearchEvent): boolean => only === undefined || !('path' in event) || only.has(event.path);
  let passing = true;
  return view.search(
    {
      ...{ scene: found.scene, root: found.path, folder, timeout_ms: TIMEOUT_MS },
      args: contentArgs(call, call.file_glob, operandOf(found)),
      onOutput: async (chunk) => {
        for (const event of read(chunk)) {
          if (event.type === 'begin') passing = wanted(event);
          if (passing && !(await hits.event(event))) return false;
        }
        return true;
      },
    },
    context.signal,
  );
}

const operandOf = (found: Found): string => (found.folder ? './' : `./${basename(found.path)}`);

function createNameReader(): (chunk: Buffer) => readonly string[] {
  let held = '';
  const decoder = new TextDecoder('utf-8');
  return (chunk) => {
    const names = (held + decoder.decode(chunk, { stream: true })).split('\0');
    held = names.pop() ?? '';
    return names.map((name) => name.replace(/^\.\//, ''));
  };
}

function refuseBad(end: SearchEnd): void {
  if (end.exit_code !== 2) return;
  const problem = patternProblem(end.stderr);
  if (problem !== undefined) throw fileError('bad_pattern', `The pattern or glob can't be used: ${problem.trim()}`);
  // Files it could not read are named one by one; anything else means that it did not search.
  const strange = end.stderr.split('\n').find((line) => line !== '' && !line.includes('os error'));
  if (strange !== undefined) throw new AppError('internal', `The search failed: ${strange.slice(0, 300)}`);
}

function answer(call: Call, result: Awaited<ReturnType<typeof maskHits>>, end: SearchEnd): ToolOutput {
  const { matches, context, total, skipped, more } = result;
  const exact = end.ended === 'by_itself' && !result.oversized;
  const next = more ? call.offset + matches.length : null;
  const unreadable = end.stderr.split('\n').filter((line) => line.includes('os error')).length;
  const notes = [
    ...(end.ended === 'timeout' ? [`the search was ended after ${TIMEOUT_MS / 1000} s; search a smaller folder`] : []),
    ...(end.exit_code === 2 && unreadable > 0 ? [`${unreadable} files or folders can't be read`] : []),
    ...(skipped.length > 0
      ? [
          `matches in ${skipped.length} more file(s) are not shown: ${skipped
            .slice(0, 5)
            .map(({ path, why }) => `${path} (${why})`)
            .join(', ')}`,
        ]
      : []),
    ...(result.oversized ? ['lines of more than 16 MiB were passed over'] : []),
    ...(next !== null ? [`${total}${exact ? '' : ' or more'} matches; the next ones: "offset": ${next}`] : []),
    ...(total === 0 && !call.include_ignored
      ? ['hidden folders, dependencies, build results and what .gitignore names were left out; include_ignored searches them']
      : []),
  ];
  const said = call.target === 'files' ? matches.map(({ path }) => path) : grouped(matches, context);
  return {
    structured: { matches, context, total, total_exact: exact, truncated: more || !exact, next_offset: next, skipped, notes },
    text: [...(total === 0 ? ['no matches'] : said), ...notes.map((note) => `[${note}]`)].join('\n'),
    evidence: { matches: total, shown: matches.length, ended: end.ended },
  };
}

interface Line {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Under each path its lines, as grep marks them: `12:` a match, `13-` beside one. */
function grouped(matches: readonly Line[], context: readonly Line[]): readonly string[] {
  const marked = [...matches.map((one) => ({ ...one, mark: ':' })), ...context.map((one) => ({ ...one, mark: '-' }))];
  const order = new Map([...new Set(matches.map(({ path }) => path))].map((path, index) => [path, index]));
  marked.sort((a, b) => (order.get(a.path) ?? 0) - (order.get(b.path) ?? 0) || a.line - b.line);
  let path = '';
  return marked.flatMap((one) => {
    const head = one.path === path ? [] : [one.path];
    path = one.path;
    return [...head, `  ${one.line}${one.mark} ${one.text}`];
  });
}
