import { AppError } from '../../kernel/errors.ts';
import { MARKER_VARIABLE, MAX_COMMAND_BYTES } from '../running/launcher.ts';

/** bash keeps these for itself: it can't hand on another's value. env(1) sets them; none of them is a place for a secret. */
const OF_BASH =
  /^(?:BASHOPTS|SHELLOPTS|BASHPID|BASH_(?:ALIASES|ARGC|ARGV|CMDS|COMMAND|LINENO|SOURCE|SUBSHELL|VERSINFO)|COMP_WORDBREAKS|DIRSTACK|EPOCH(?:REALTIME|SECONDS)|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|S?RANDOM|SECONDS|UID)$/;
/** Where the shell stands, and not configuration; and the name by which a tree is found, which is not its own to choose. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', MARKER_VARIABLE]);
const IDENTIFIER = /^[A-Za-z_]\w*$/;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * What the launcher is told to run. The variables come through the gate and not from the environment of bubblewrap: what loads code into
 * a process (LD_PRELOAD, BASH_ENV) would run before the gate, and in bubblewrap outside of the sandbox; and they are in nobody's argv.
 */
export function commandFor(input: {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}): string {
  const [argv0 = input.program, ...rest] = input.argv;
  const names = Object.keys(input.env).filter((name) => !NOT_TAKEN.has(name));
  for (const text of [...input.argv, ...names, ...Object.values(input.env)]) {
    if (text.includes('\0')) throw new AppError('invalid_arguments', 'An argument or a variable of the program holds a NUL character.');
  }
  // What is no name for bash can't be set by it. Exported functions are code for every bash below, and no configuration.
  const odd = names.filter((name) => OF_BASH.test(name) || (!IDENTIFIER.test(name) && !name.startsWith('BASH_FUNC_')));
  const wrong = odd.find((name) => name === '' || name.includes('='));
  if (wrong !== undefined) throw new AppError('invalid_arguments', `${JSON.stringify(wrong)} can't be the name of a variable.`);
  const exported = names.filter((name) => IDENTIFIER.test(name) && !OF_BASH.test(name));
  const assign = (name: string): string => `${name}=${quote(input.env[name] ?? '')}`;
  const command = [
    // A locale that isn't there is no concern of the shell's.
    ...(exported.length === 0 ? [] : [`export ${exported.map(assign).join(' ')} 2>/dev/null`]),
    odd.length === 0
      ? `exec -a ${[argv0, input.program, ...rest].map(quote).join(' ')}`
      : `exec /usr/bin/env ${[...odd.map((name) => `${name}=${input.env[name]}`), input.program, ...rest].map(quote).join(' ')}`,
  ].join('; ');
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new AppError('invalid_arguments', `Arguments and variables are ${bytes} bytes long; at most ${MAX_COMMAND_BYTES} are possible.`);
  }
  return command;
}
