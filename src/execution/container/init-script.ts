import { GATE_FD, launcherEnvironment, MARKER_VARIABLE } from '../running/launcher.ts';

/** Where the folder with the pipes is mounted. */
export const PIPES_AT = '/run/.writ';
/** Where the container answers: `R` and `G` of the launcher, then `E` and the exit status. */
export const WORDS_FD = 7;
const LIFE_FD = 8;

/** A pipe is opened without waiting for the other side, and ends all the same when that side is gone. */
const open = (fd: number, mode: '<' | '>', name: string): string => `exec 9<>${PIPES_AT}/${name} ${fd}${mode}${PIPES_AT}/${name} 9>&-`;

/**
 * The first process of a container: a script of bash, since an image need hold nothing else. It starts the launcher (running/launcher.ts)
 * as a process of its own, which is then the place of the command, and waits for its end or that of the supervisor, whichever comes
 * first; when it exits the kernel ends everything else in the container. What is left without a parent becomes its child, and bash reaps.
 *
 * `$1` is the text of the launcher. Monitor mode for the moment of its start: otherwise bash would leave SIGINT ignored in it.
 */
export function initScript(options: { readonly stdin: boolean; readonly keeps_env: boolean }): string {
  return [
    'umask 022',
    open(GATE_FD, '<', 'gate'),
    open(WORDS_FD, '>', 'word'),
    open(LIFE_FD, '<', 'life'),
    open(1, '>', 'out'),
    open(2, '>', 'err'),
    `exec 0<${options.stdin ? `${PIPES_AT}/in` : '/dev/null'}`,
    // What the engine has set; an image's own variables stay, but for proxies that a client of Docker adds.
    options.keeps_env
      ? 'unset -v HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy BASH_ENV ENV'
      : 'for X in $(compgen -e); do unset -v "$X"; done',
    // The environment comes through the gate, since an engine keeps what it is told and shows it to whoever may ask.
    `while IFS= read -rd '' -u${GATE_FD} X && [[ -n $X ]]; do export "$X"; done 2>/dev/null`,
    'set -m',
    `/bin/bash --noprofile --norc -c "$1" bash ${LIFE_FD}<&- & C=$!`,
    'set +m',
    // Its own words (that a job was killed) are not the command's.
    'exec >/dev/null 2>&1',
    `exec ${GATE_FD}<&-`,
    `( exec ${WORDS_FD}>&- </dev/null; read -rN1 -u${LIFE_FD} ) &`,
    `exec ${LIFE_FD}<&-`,
    'wait -n; S=$?',
    // Not the launcher: then its supervisor is gone, or it has ended the watcher itself.
    'kill -0 "$C" && S=137',
    `printf 'E%d\\n' "$S" >&${WORDS_FD}`,
    'exit "$S"',
  ].join('\n');
}

/** The first message of the gate. */
export function environmentMessage(env: Readonly<Record<string, string>>, marker: string): Buffer {
  const entries = Object.entries(launcherEnvironment(env, marker)).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return Buffer.from(`${entries.map(([name, value]) => `${name}=${value}\0`).join('')}\0`);
}

export const markerFlag = (marker: string): string => `--env=${MARKER_VARIABLE}=${marker}`;
