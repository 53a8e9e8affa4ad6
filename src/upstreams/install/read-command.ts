import { basename } from 'node:path';
import type { UpstreamTransport } from '../types.ts';
import { FETCHERS, RUNNERS, type Runner } from './runners.ts';
import { readSpec } from './specs.ts';
import type { CommandRead, Wanted } from './types.ts';

const OWN: CommandRead = { type: 'own' };
const REGISTRY = /^https?:\/\/[^\s/]+(?:\/|$)/;
const MAX_SPECS = 16;

/** What the words of a command would fetch. Nothing is looked up; `${NAME}` stands as it is. */
export function readCommand({ command, args }: Extract<UpstreamTransport, { type: 'stdio' }>): CommandRead {
  const given = [nameOf(command), ...args];
  // As configurations for Windows have it.
  const skipped = given[0] === 'cmd' && /^\/c$/i.test(args[0] ?? '') ? 2 : 0;
  const all = [nameOf(given[skipped] ?? ''), ...given.slice(skipped + 1)];
  const runner = RUNNERS.find(({ words }) => startsWith(all, words));
  if (runner !== undefined) {
    const read = readRunner(all, runner);
    return read.type === 'package' ? { ...read, args_from: read.args_from + skipped } : read;
  }
  const fetcher = FETCHERS.find(
    (each) => startsWith(all, each.words) && (each.with === undefined || all.some((word) => each.with?.test(word))),
  );
  if (fetcher === undefined) return OWN;
  return unclear(
    `"${fetcher.words.join(' ')}" fetches what it runs whenever it is started`,
    'Install it, and name the program that was installed.',
  );
}

function nameOf(command: string): string {
  return basename(command.replaceAll('\\', '/')).replace(/\.(?:cmd|exe|ps1)$/i, '');
}

function startsWith(all: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => all[index] === word);
}

/** Options, then the package or program, then its arguments. */
function readRunner(all: readonly string[], runner: Runner): CommandRead {
  const how = runner.words.join(' ');
  const named = { package: [] as string[], also: [] as string[], registry: [] as string[], ignored: [] as string[] };
  let at = runner.words.length;
  let program: string | undefined;
  for (; at < all.length; at++) {
    const word = all[at] ?? '';
    if (word === '--') {
      at++;
      program ??= all[at++];
      break;
    }
    if (!word.startsWith('-')) {
      if (program !== undefined) break;
      program = word;
      if (runner.options_anywhere) continue;
      at++;
      break;
    }
    if (runner.switches.has(word)) continue;
    const [, option = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const meaning = Object.hasOwn(runner.values, option) ? runner.values[option] : undefined;
    if (meaning === undefined) {
      return unclear(`${how} has the option ${JSON.stringify(option.slice(0, 80))}, which Writ doesn't know`, fixOf(runner));
    }
    named[meaning].push(inline ?? all[++at] ?? '');
  }
  if (program === undefined || program === '') return unclear(`${how} names no program`, fixOf(runner));
  const { package: packages, also, registry } = named;
  const specs = (packages.length > 0 ? [...packages, ...also] : [program, ...also]).map((word) => ({
    word,
    spec: readSpec(word, runner.ecosystem),
  }));
  // Beside a folder of this machine the others would still be fetched.
  if (specs.every(({ spec }) => spec.type === 'local')) return OWN;
  const odd = specs.find(({ spec }) => spec.type !== 'registry');
  if (odd !== undefined)
    return unclear(
      `${JSON.stringify(odd.word.slice(0, 200))} is no name of a package in a registry, so its version can't be kept`,
      fixOf(runner),
    );
  if (specs.length > MAX_SPECS) return unclear(`${how} names more than ${MAX_SPECS} packages`, fixOf(runner));
  const [source] = registry;
  if (source !== undefined && !REGISTRY.test(source))
    return unclear(`${JSON.stringify(source.slice(0, 200))} is no address of a registry`, fixOf(runner));
  const bin = binOf(program, packages.length > 0, runner.ecosystem);
  const wanted: Wanted = {
    ecosystem: runner.ecosystem,
    specs: specs.flatMap(({ spec }) => (spec.type === 'registry' ? [spec.text] : [])),
    ...(bin === undefined ? {} : { bin }),
    ...(source === undefined ? {} : { registry: source }),
  };
  return { type: 'package', wanted, args_from: at - 1 };
}

/** Where the package is named by itself, the word is that of the program. A Python package has one of its own name, or none is meant. */
function binOf(program: string, apart: boolean, ecosystem: Wanted['ecosystem']): string | undefined {
  if (apart) return program;
  const spec = ecosystem === 'python' ? readSpec(program, ecosystem) : undefined;
  return spec?.type === 'registry' ? spec.name : undefined;
}

function fixOf({ ecosystem }: Runner): string {
  return ecosystem === 'npm'
    ? 'Write it as `npx -y PACKAGE@VERSION ...`, or install it yourself and name its program.'
    : 'Write it as `uvx PACKAGE@VERSION ...`, or install it yourself and name its program.';
}

function unclear(why: string, fix: string): CommandRead {
  return { type: 'unclear', why, fix };
}
