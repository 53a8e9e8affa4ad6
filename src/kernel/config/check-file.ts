import { judgeUnknownKey } from './keys.ts';
import { type Json, type ParsedConfig, type Path, parseJsonc, quoted, shown } from './parse.ts';
import type { FileText } from './read-file.ts';
import type { ConfigNote } from './result.ts';
import { type ConfigInput, configSchema } from './schema.ts';

/** One file, parsed and checked. `lineOf` understands the canonical names (`mcp_servers`). */
export type CheckedFile =
  | { readonly ok: true; readonly input: ConfigInput; readonly warnings: readonly ConfigNote[]; lineOf(path: Path): number }
  | { readonly ok: false; readonly problems: readonly ConfigNote[]; readonly warnings: readonly ConfigNote[] };

const MAX_PROBLEMS = 50;

export function checkFile(file: string, read: Extract<FileText, { state: 'text' | 'refused' }>): CheckedFile {
  if (read.state === 'refused') return { ok: false, problems: [{ file, message: read.message, fix: read.fix }], warnings: [] };
  const result = parseJsonc(read.text);
  if (!result.ok) return { ok: false, problems: result.problems.map((problem) => ({ file, ...problem })), warnings: [] };
  return checkValue(file, result.parsed);
}

function checkValue(file: string, parsed: ParsedConfig): CheckedFile {
  const given = parsed.value as { readonly [key: string]: Json };
  const aliased = 'mcpServers' in given;
  if (aliased && 'mcp_servers' in given) {
    const [one, two] = [parsed.lineOf(['mcp_servers']), parsed.lineOf(['mcpServers'])].sort((a, b) => a - b);
    const message = `has both "mcp_servers" and "mcpServers", which are the same: in line ${one} and in line ${two}`;
    return {
      ok: false,
      problems: [{ file, message, fix: 'Keep one of the two.', ...(two === undefined ? {} : { line: two }) }],
      warnings: [],
    };
  }
  const lineOf = (path: Path): number => parsed.lineOf(aliased && path[0] === 'mcp_servers' ? ['mcpServers', ...path.slice(1)] : path);
  const problems: ConfigNote[] = [];
  const warnings: ConfigNote[] = [];
  let value: Json = aliased ? renamed(given) : given;
  // Unknown keys are judged here and taken out, then the rest must fit; at most twice round.
  for (let round = 0; ; round++) {
    const checked = configSchema.safeParse(value);
    if (checked.success) {
      return problems.length > 0
        ? { ok: false, problems: byLine(problems), warnings: byLine(warnings) }
        : { ok: true, input: checked.data, warnings: byLine(warnings), lineOf };
    }
    const unknown: Path[] = [];
    for (const issue of checked.error.issues.slice(0, MAX_PROBLEMS)) {
      const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          const { severity, message, fix } = judgeUnknownKey(path, key);
          (severity === 'error' ? problems : warnings).push({ file, line: lineOf([...path, key]), message, fix });
          unknown.push([...path, key]);
        }
      } else if (round > 0 || !checked.error.issues.some(({ code }) => code === 'unrecognized_keys')) {
        problems.push({
          file,
          line: lineOf(path),
          message: messageOf(issue.code, issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? '') : issue.message, path),
        });
      }
    }
    if (unknown.length === 0) return { ok: false, problems: byLine(problems), warnings: byLine(warnings) };
    value = without(value, unknown);
  }
}

function byLine(notes: readonly ConfigNote[]): ConfigNote[] {
  return notes.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function messageOf(code: string, message: string, path: Path): string {
  const last = path.at(-1);
  if (code === 'invalid_key') return `has ${quoted(String(last))} in ${shown(path.slice(0, -1))}, which is no name it knows: ${message}`;
  return `${path.length === 0 ? 'the file' : shown(path)} ${/^must/.test(message) ? message : `is not right: ${message}`}`;
}

function renamed(given: { readonly [key: string]: Json }): Json {
  const { mcpServers, ...rest } = given;
  return Object.assign(Object.create(null), rest, { mcp_servers: mcpServers });
}

function without(value: Json, paths: readonly Path[], at: Path = []): Json {
  if (Array.isArray(value)) return value.map((item, index) => without(item, paths, [...at, index]));
  if (value === null || typeof value !== 'object') return value;
  const kept: Record<string, Json> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const path = [...at, key];
    if (!paths.some((one) => one.length === path.length && one.every((part, index) => part === path[index])))
      kept[key] = without(item, paths, path);
  }
  return kept;
}
