import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { realPath } from '../containment/look.ts';
import type { ChannelSpec, ProgramFound } from '../types.ts';

const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MAX_SHEBANG = 256;

/** Programs whose first file argument is the real program. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|uv|ruby|perl|php|java|bash|sh|dash|zsh)$/;
const SCRIPT = /\.(?:[cm]?[jt]sx?|pyz?|rb|pl|php|jar|sh)$/;

/** Looked up as `execvp` would, on the host. */
export function findProgram({ argv, env, cwd }: Pick<ChannelSpec, 'argv' | 'env' | 'cwd'>): ProgramFound {
  const name = argv[0] ?? '';
  if (name.includes('/')) {
    const path = isAbsolute(name) || cwd === undefined ? name : resolve(cwd, name);
    const found = isAbsolute(path) ? named(path) : undefined;
    return found === undefined ? { ok: false, looked_in: [dirname(path)] } : { ok: true, path: found };
  }
  const looked_in = [...new Set((env['PATH'] ?? STANDARD_PATH).split(':'))].filter(isAbsolute);
  for (const entry of name === '' ? [] : looked_in) {
    const found = named(join(entry, name));
    if (found !== undefined) return { ok: true, path: found };
  }
  return { ok: false, looked_in };
}

/** The files that starting it needs: program and what it links to, the interpreter of its first line, a script among its arguments. */
export function filesToStart(program: string, spec: Pick<ChannelSpec, 'argv' | 'env'>): readonly string[] {
  const files = [program, ...interpreterOf(program, spec.env), ...scriptOf(spec.argv)];
  return [...new Set(files.flatMap((file) => [file, realPath(file) ?? file]))];
}

/** The arguments, with the script by the name that it has inside: folders on the way that are links aren't there. */
export function argumentsInside(argv: readonly string[]): readonly string[] {
  const [script] = scriptOf(argv);
  const at = argv.findIndex((argument, index) => index > 0 && isScript(argument));
  return script === undefined ? argv : argv.with(at, script);
}

function scriptOf(argv: readonly string[]): readonly string[] {
  if (!INTERPRETER.test(basename(argv[0] ?? ''))) return [];
  const script = argv.slice(1).find(isScript);
  return script === undefined ? [] : [inRealFolder(script)];
}

const isScript = (argument: string): boolean => isAbsolute(argument) && SCRIPT.test(argument) && isFile(argument);

/** `#! /path/to/program`, or `#! /usr/bin/env NAME`. */
function interpreterOf(program: string, env: Readonly<Record<string, string>>): readonly string[] {
  const words = /^#![ \t]*([^\n]*)/.exec(readStart(program))?.[1]?.split(/[ \t]+/) ?? [];
  const [first = '', ...rest] = words;
  if (!isAbsolute(first)) return [];
  const name = basename(first) === 'env' ? rest.find((word) => !/^-|=/.test(word)) : first;
  const found = name === undefined ? undefined : findProgram({ argv: [name], env });
  return found?.ok ? [found.path] : [];
}

function readStart(path: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(MAX_SHEBANG);
    return bytes.toString('latin1', 0, readSync(fd, bytes, 0, MAX_SHEBANG, 0));
  } catch {
    // May be run and not be read: then it has no first line that the kernel would read either way.
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function named(path: string): string | undefined {
  if (!isFile(path)) return undefined;
  try {
    accessSync(path, constants.X_OK);
    return inRealFolder(path);
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // In a folder that may not be entered.
    return false;
  }
}

/** The last part stays as it is: what a virtual environment links to must be started by the link. */
function inRealFolder(path: string): string {
  return join(realPath(dirname(path)) ?? dirname(path), basename(path));
}
