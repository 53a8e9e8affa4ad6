import type { ExecutionConfig } from '../core-types.ts';
import { HTTP_PROXY_PORT, SOCKS_PROXY_PORT } from '../network/inlets.ts';

/** What a run inherits of Writ's own environment, by name; everything else doesn't exist inside. `env_pass` adds to it. */
const INHERITED: readonly (string | RegExp)[] = [
  'PATH',
  'LANG',
  /^LC_[A-Z]+$/,
  'TZ',
  'USER',
  'LOGNAME',
  'SHELL',
  'VIRTUAL_ENV',
  'JAVA_HOME',
  'GOPATH',
  'CARGO_HOME',
  'NVM_DIR',
];

/** Names that load code into a process or change what a shell does at start; not even `env_pass` lets them through. */
const NEVER =
  /^(LD_.*|DYLD_.*|NODE_OPTIONS|NODE_REPL_EXTERNAL_MODULE|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS4|PYTHONSTARTUP|PERL5OPT|PERL5LIB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GCONV_PATH|GIT_(EXTERNAL_DIFF|SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*)|WRIT_.*)$/;

/** Always set, whatever the host has. */
const FIXED: Readonly<Record<string, string>> = {
  TMPDIR: '/tmp',
  TMPPREFIX: '/tmp/zsh',
  TERM: 'xterm-256color',
  COLUMNS: '120',
  LINES: '40',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  // Nobody is there to answer: prompts fail at once in place of hanging.
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  SSH_ASKPASS_REQUIRE: 'never',
  SUDO_ASKPASS: '/bin/false',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o StrictHostKeyChecking=yes',
  DEBIAN_FRONTEND: 'noninteractive',
  // The network is off; without these npm waits 70 s before it says so.
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  NPM_CONFIG_GLOBALCONFIG: '/etc/npmrc',
  GIT_CONFIG_SYSTEM: '/etc/gitconfig',
};

/**
 * Configuration of a repository that starts programs behind a reader's back, answered on git's command scope, which outranks
 * the repository's. Commit hooks stay on, except where the run may write `.git/config`. Drivers named by attributes (textconv,
 * filters) can't be turned off by name; they run contained like everything else.
 */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.askPass', '/bin/false'],
  ['credential.helper', ''],
  ['gc.autoDetach', 'false'],
  ['maintenance.autoDetach', 'false'],
];
const HOOKS_OFF = ['core.hooksPath', '/dev/null'] as const;

const PROXY = `http://127.0.0.1:${HTTP_PROXY_PORT}`;
const OWN_HOSTS = 'localhost,127.0.0.1,::1';

/**
 * How programs learn of the proxy: libcurl (git, cargo), wget, apt, Go, pip and Ruby by these names, npm, yarn and Node by their own.
 * `ALL_PROXY` isn't the SOCKS address, since Python's httpx doesn't start where that is set and a package is missing; who speaks
 * SOCKS finds it under a name of ours. Names are looked up by the proxy: there is no DNS inside.
 */
const PROXIED: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  http_proxy: PROXY,
  HTTPS_PROXY: PROXY,
  https_proxy: PROXY,
  ALL_PROXY: PROXY,
  all_proxy: PROXY,
  NO_PROXY: OWN_HOSTS,
  no_proxy: OWN_HOSTS,
  npm_config_proxy: PROXY,
  npm_config_https_proxy: PROXY,
  npm_config_noproxy: OWN_HOSTS,
  YARN_HTTP_PROXY: PROXY,
  YARN_HTTPS_PROXY: PROXY,
  CARGO_HTTP_PROXY: PROXY,
  NODE_USE_ENV_PROXY: '1',
  SOCKS_PROXY: `socks5h://127.0.0.1:${SOCKS_PROXY_PORT}`,
  // Retries are off where there is no network, and useful where there is one.
  npm_config_fetch_retries: '2',
  PIP_RETRIES: '3',
};

/** Where the person's network needs further certificates, programs are told by these; the files of the system are there inside. */
const CERTIFICATES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
];
const OF_THE_SYSTEM = /^\/(?:etc\/(?:ssl|pki|ca-certificates)|usr\/(?:local\/)?(?:share|lib))\/(?!.*\.\.)/;

function certificates({ host_env }: EnvironmentInput['config']): Record<string, string> {
  return Object.fromEntries(
    CERTIFICATES.flatMap((name) => {
      const value = host_env[name];
      return value !== undefined && OF_THE_SYSTEM.test(value) && !value.includes('\0') ? [[name, value]] : [];
    }),
  );
}

export interface EnvironmentInput {
  readonly config: Pick<ExecutionConfig, 'host_env' | 'env_pass'>;
  /** HOME inside. */
  readonly home: string;
  readonly user_name: string;
  /** PATH entries that exist inside, in their order. */
  readonly path: readonly string[];
  /** Inherited variables that name folders which don't exist inside. */
  readonly dropped: ReadonlySet<string>;
  /** What bound tool chains need, see toolchain-table.ts. */
  readonly toolchain_env: Readonly<Record<string, string>>;
  readonly pty?: { readonly cols: number; readonly rows: number } | undefined;
  readonly git_config_write: boolean;
  /** A path was opened for this run. */
  readonly opened?: boolean;
  /** An allow-list is open: programs are told of its proxy. */
  readonly proxied?: boolean;
}

/** Sockets and files of the person's own session; they exist outside of containment only, and only for their own user. */
const OF_THE_SESSION = [
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'SSH_AUTH_SOCK',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'CONTAINER_HOST',
  'KUBECONFIG',
];
/** Of what is always set: what keeps programs from waiting for somebody who isn't there. */
const UNATTENDED = [
  'TERM',
  'COLUMNS',
  'LINES',
  'PAGER',
  'MANPAGER',
  'GIT_PAGER',
  'GIT_TERMINAL_PROMPT',
  'GIT_ASKPASS',
  'SSH_ASKPASS',
  'SSH_ASKPASS_REQUIRE',
  'SUDO_ASKPASS',
  'GIT_SSH_COMMAND',
  'DEBIAN_FRONTEND',
];

/** The environment of a run that a person let out of containment. `own`: it is the user that Writ is. */
export function uncontainedEnvironment(input: {
  readonly config: Pick<ExecutionConfig, 'host_env' | 'env_pass'>;
  readonly home: string;
  readonly user_name: string;
  readonly own: boolean;
}): Readonly<Record<string, string>> {
  const session = input.own ? OF_THE_SESSION : [];
  const env: Record<string, string> = {
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  };
  Object.assign(env, inherited(input.config, new Set(), session));
  for (const name of UNATTENDED) if (FIXED[name] !== undefined) env[name] = FIXED[name];
  return { ...env, GIT_EDITOR: 'true', HOME: input.home, USER: input.user_name, LOGNAME: input.user_name };
}

function inherited(
  config: Pick<ExecutionConfig, 'host_env' | 'env_pass'>,
  dropped: ReadonlySet<string>,
  more: readonly string[] = [],
): Record<string, string> {
  const env: Record<string, string> = {};
  const passed = new Set([...config.env_pass, ...more]);
  for (const [name, value] of Object.entries(config.host_env)) {
    const listed = passed.has(name) || INHERITED.some((entry) => (typeof entry === 'string' ? entry === name : entry.test(name)));
    if (listed && !NEVER.test(name) && !dropped.has(name) && !value.includes('\0')) env[name] = value;
  }
  return env;
}

/** What containment itself sets for a long-lived program, which has all other variables from whoever declared it. */
export function channelBase(
  input: Pick<EnvironmentInput, 'config' | 'home' | 'user_name' | 'path' | 'toolchain_env' | 'proxied'>,
): Readonly<Record<string, string>> {
  return {
    LANG: 'C.UTF-8',
    ...input.toolchain_env,
    HOME: input.home,
    TMPDIR: '/tmp',
    PATH: input.path.join(':'),
    USER: input.user_name,
    LOGNAME: input.user_name,
    ...(input.proxied ? { ...certificates(input.config), ...PROXIED } : {}),
  };
}

/** `npm install -g` writes beside npm itself otherwise, which no run can. */
const NPM_PREFIX = '.npm-global';
/**
 * Where tools put programs below HOME: found by their name, after every program that is there anyway. Not in a run that a path was opened
 * for: whoever says that `gh` may read its configuration doesn't mean a `gh` that an earlier run has put there.
 */
const OWN_PROGRAMS = [`${NPM_PREFIX}/bin`, '.local/bin', '.cargo/bin', 'go/bin'];

/** The whole environment of a run, and of bubblewrap itself: what bubblewrap gets stays readable in /proc/1/environ. */
export function environment(input: EnvironmentInput): Readonly<Record<string, string>> {
  const env: Record<string, string> = { LANG: 'C.UTF-8', SHELL: '/bin/bash', ...inherited(input.config, input.dropped) };
  // nvm refuses to work where another prefix is set, and has a writable one of its own nowhere in here.
  if (env['NVM_DIR'] === undefined) env['npm_config_prefix'] = `${input.home}/${NPM_PREFIX}`;
  Object.assign(env, input.toolchain_env, FIXED, {
    HOME: input.home,
    PATH: [...input.path, ...(input.opened ? [] : OWN_PROGRAMS.map((folder) => `${input.home}/${folder}`))].join(':'),
    USER: input.user_name,
    LOGNAME: input.user_name,
  });
  if (input.proxied) Object.assign(env, certificates(input.config), PROXIED);
  if (input.pty) Object.assign(env, { COLUMNS: String(input.pty.cols), LINES: String(input.pty.rows) });
  // An editor in a run without a terminal would wait for keys for ever; `true` takes the text as it is.
  else Object.assign(env, { GIT_EDITOR: 'true' });
  const settings = input.git_config_write ? [...GIT_SETTINGS, HOOKS_OFF] : GIT_SETTINGS;
  env['GIT_CONFIG_COUNT'] = String(settings.length);
  settings.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return env;
}
