/**
 * The start gate. The first thing inside the sandbox is this bash script. It waits at a pipe for exactly one message: a token, the lengths
 * of folder and command, the folder to start in, the command. Whatever else arrives, and the end of the pipe when the supervisor dies, is exit 125: nothing ran.
 *
 * It then gives the command the place that `bash -c COMMAND` would have given it: the text is in BASH_EXECUTION_STRING, `$0` is bash,
 * there are no arguments, no further descriptor is open, no variable is left over, and the rest is one `eval`. What differs is seen
 * only in texts: syntax errors say "eval:" for "-c:", and `set -x` prints one `+` more.
 */
export const GATE_FD = 6;
export const NEVER_STARTED_EXIT = 125;
/** The environment of bubblewrap, init and launcher carries it, the environment of the command does not. */
export const MARKER_VARIABLE = 'WRIT_MARKER';
export const MAX_COMMAND_BYTES = 1024 * 1024;

const TOKEN = 'WritGo2:';
const LENGTH_DIGITS = 8;
const HEADER_BYTES = TOKEN.length + 2 * LENGTH_DIGITS;

/** What one sandbox does. The caller has checked that neither holds a NUL and the command isn't longer than MAX_COMMAND_BYTES. */
export interface Order {
  /** Absolute; a folder. */
  readonly cwd: string;
  readonly command: string;
}

/**
 * `limits`: lines of `ulimit` calls, set before the gate so that a command never runs without them. `terminal`: the standard streams are
 * opened once more, since the library that made the terminal left its descriptors non-blocking for everybody who shares them.
 * `words`: where it answers, if the gate is no pipe for both ways. `marked`: the marker stays in the environment of the command, for want of another way to find its tree. `first`: what has to be made inside before the limits hold (network/inlets.ts).
 */
export function launcherScript(
  limits: readonly string[],
  terminal: boolean,
  first: readonly string[] = [],
  marked = false,
  words: number = GATE_FD,
): string {
  const own = words === GATE_FD ? '' : ` || $X == ${words}`;
  return [
    'umask 022',
    ...(terminal ? ['exec 0<>/proc/self/fd/0 1>&0 2>&0'] : []),
    ...first,
    ...limits,
    // Descriptors that some library of the supervisor left open would be doors out of the sandbox.
    `for X in /proc/self/fd/*; do X=\${X##*/}; [[ $X -le 2 || $X == ${GATE_FD}${own} ]] || exec {X}>&-; done`,
    // "Ready": from here on everything is mounted, and nothing forks any more.
    `printf R >&${words}`,
    // LC_ALL=C makes -N count bytes, whatever the locale of the command.
    `IFS= LC_ALL=C read -rN${HEADER_BYTES} -u${GATE_FD} X && [[ $X == ${TOKEN}${'[0-9]'.repeat(2 * LENGTH_DIGITS)} ]] || exit ${NEVER_STARTED_EXIT}`,
    `IFS= LC_ALL=C read -rN "$((10#\${X:${TOKEN.length}:${LENGTH_DIGITS}}))" -u${GATE_FD} BASH_EXECUTION_STRING || exit ${NEVER_STARTED_EXIT}`,
    // Where it stands already, unless it waited for a command that was not known yet. Afterwards as in a shell that has gone nowhere.
    `cd -P -- "$BASH_EXECUTION_STRING" && unset -v OLDPWD && export OLDPWD || exit ${NEVER_STARTED_EXIT}`,
    `IFS= LC_ALL=C read -rN "$((10#\${X:${TOKEN.length + LENGTH_DIGITS}}))" -u${GATE_FD} BASH_EXECUTION_STRING || exit ${NEVER_STARTED_EXIT}`,
    // "Going": without this word nothing has run, however the sandbox ended.
    `printf G >&${words}`,
    `exec ${GATE_FD}<&-${own === '' ? '' : ` ${words}>&-`}`,
    `unset -v X${marked ? '' : ` ${MARKER_VARIABLE}`}`,
    'eval "$BASH_EXECUTION_STRING"',
  ].join('; ');
}

/** What opens the gate. */
export function gateMessage({ cwd, command }: Order): Buffer {
  const parts = [Buffer.from(cwd, 'utf8'), Buffer.from(command, 'utf8')];
  const lengths = parts.map((part) => String(part.length).padStart(LENGTH_DIGITS, '0')).join('');
  return Buffer.concat([Buffer.from(TOKEN + lengths, 'latin1'), ...parts]);
}

/** Variables that would make bash run or redefine something before it comes to the gate. */
export function launcherEnvironment(env: Readonly<Record<string, string>>, marker: string): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!STARTS_CODE.test(name)) clean[name] = value;
  }
  clean[MARKER_VARIABLE] = marker;
  return clean;
}

const STARTS_CODE = /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|TMOUT|BASH_XTRACEFD|BASH_FUNC_.*|BASH_EXECUTION_STRING|X)$/s;
