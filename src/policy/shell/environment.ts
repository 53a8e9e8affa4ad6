import { TOOL_HOMES } from '../paths/tables.ts';
import type { Subject } from '../session.ts';
import { HOLE, isKnown, type Text } from '../text.ts';
import type { Scene } from './flow.ts';
import type { Interpreter } from './parts.ts';

import type { State } from './state.ts';

type Judge = (host: Interpreter, subject: Subject, scene: Scene, state: State, name: string, value: Text) => void;

const says =
  (effect: 'system_write' | 'code_execution' | 'unknown', reason: string): Judge =>
  (host, subject, scene, _state, name) =>
    host.report(subject, scene, effect, `${name} ${reason}`);

const LOADER = says('system_write', 'changes which code is loaded');
const STARTS = says('code_execution', 'changes which programs are started');

/** The value is a command line that something starts later. */
const command: Judge = (host, subject, scene, state, name, value) => {
  if (HARMLESS_COMMANDS.test(value)) return;
  host.report(subject, scene, 'code_execution', `${name} names a program that gets started`);
  // The pre-processor of less begins with a pipe.
  const text = name === 'LESSOPEN' ? value.replace(/^\|+-?/, '') : value;
  if (text !== '') host.dispatch.shellText(text, state, subject, scene, { lenient: true });
};

/** A setting of git or a rule of make in a variable: which one it is for stands elsewhere, so the value is looked at as a command, too. */
const settingText: Judge = (host, subject, scene, state, name, value) => {
  STARTS(host, subject, scene, state, name, value);
  for (const text of value.match(/[=;](?:[^'";]|\\.)*/g)?.map((part) => part.slice(1).replaceAll('\\ ', ' ')) ?? [])
    host.dispatch.shellText(text.replace(/^!/, ''), state, subject, scene, { lenient: true });
  if (!value.includes('=')) host.dispatch.shellText(value.replace(/^!/, ''), state, subject, scene, { lenient: true });
};

const HARMLESS_COMMANDS =
  /^(|cat|less|more|most|true|false|:|vi|vim|nano|emacs|ed|code|code --wait|head|tail|less -[A-Za-z]+|firefox|xdg-open|none|echo|ssh|git-credential-cache)$/;

/** Folders on the search path: the old value, the system's and tool homes add nothing that a run could have written. */
const searchPath: Judge = (host, subject, scene, _state, name, value) => {
  const fresh = value.split(':').filter((entry) => entry !== HOLE && !SYSTEM_FOLDER.test(entry) && !isToolHome(entry, host.context.home));
  if (fresh.length > 0) host.report(subject, scene, 'system_write', `${name} changes which programs a name stands for`);
};

/** No run can write there. */
const SYSTEM_FOLDER = /^\/(bin|sbin|usr|opt|nix|snap)(\/(?!\.\.(\/|$))[\w.+@-]+)*\/?$/;

const isToolHome = (entry: Text, home: string): boolean => {
  if (!isKnown(entry) || !entry.startsWith(`${home}/`) || entry.includes('/../')) return false;
  return TOOL_HOMES.has(entry.slice(home.length + 1).split('/')[0] ?? '') && entry !== `${home}/.cache`;
};

/** Libraries of an interpreter: the project's own are project code; others change what is loaded. */
const libraryPath: Judge = (host, subject, scene, state, name, value) => {
  const entries = value.split(':').filter((entry) => entry !== '' && entry !== HOLE);
  const own = entries.every((entry) => isKnown(entry) && host.paths.program(entry, state.cwd) === 'project');
  host.report(subject, scene, own ? 'code_execution' : 'system_write', `${name} changes which libraries are loaded`);
};

/** Options given through a variable: harmless as long as none loads or starts something. */
const optionsUnless =
  (dangerous: RegExp, effect: 'system_write' | 'code_execution'): Judge =>
  (host, subject, scene, _state, name, value) => {
    if (!isKnown(value)) host.report(subject, scene, 'unknown', `${name} holds options that cannot be known from the text`);
    else if (dangerous.test(value)) {
      host.report(subject, scene, effect, `${name} makes the program load other code`);
      if (effect === 'system_write') host.report(subject, scene, 'code_execution', `${name} makes the program load other code`);
    }
  };

const script: Judge = (host, subject, scene, state, name, value) => {
  host.report(subject, scene, 'code_execution', `${name} runs text later`);
  if (value !== '') host.dispatch.shellText(value, state, subject, scene, { lenient: false });
};

const startupFile: Judge = (host, subject, scene, state, name, value) => {
  host.report(subject, scene, 'system_write', `${name} names a file that runs before the program`);
  host.report(subject, scene, 'code_execution', `${name} names a file that runs before the program`);
  for (const key of host.paths.key(value, state.cwd)) {
    const origin = state.files.get(key)?.origin;
    if (origin !== undefined && origin !== 'local')
      host.report(subject, scene, 'blocked', `${name} names a file that came from the network or a decoder`);
  }
};

/** Another repository or other files for git: what it then throws away or runs is not of the workspace. */
const elsewhere: Judge = (host, subject, scene, state, name, value) => {
  const own = host.paths.program(value, state.cwd) === 'project';
  host.report(subject, scene, own ? 'code_execution' : 'system_write', `${name} makes git work somewhere else`);
};

const prompt: Judge = (host, _subject, _scene, state, _name, value) =>
  host.expander.lurking(value, { state, frame: { source: value, span: _subject.span } });

const TABLE: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_COMMON_DIR'].map((name) => [name, elsewhere] as const),
  ['PATH', searchPath],
  ...[
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'LD_AUDIT',
    'LD_CONFIG',
    'GCONV_PATH',
    'LOCPATH',
    'NLSPATH',
    'GLIBC_TUNABLES',
    'MALLOC_CHECK_',
    'HOSTALIASES',
    'RESOLV_HOST_CONF',
    'GETCONF_DIR',
    'TERMINFO',
    'OPENSSL_CONF',
    'OPENSSL_ENGINES',
    'OPENSSL_MODULES',
  ].map((name) => [name, LOADER] as const),
  ...['PROMPT_COMMAND', 'PS0'].map((name) => [name, script] as const),
  ...['PS1', 'PS2', 'PS4'].map((name) => [name, prompt] as const),
  ...[
    'BASH_ENV',
    'ENV',
    'PYTHONSTARTUP',
    'RUBYOPT',
    'PERL5OPT',
    'PERL5DB',
    'ZDOTDIR',
    'BASH_LOADABLES_PATH',
    'PYTHONINSPECT',
    'NODE_REPL_EXTERNAL_MODULE',
    'VIMINIT',
    'EXINIT',
    'GVIMINIT',
    'MYVIMRC',
    'PYTHONBREAKPOINT',
    'PYTHONHOME',
    'INPUTRC',
  ].map((name) => [name, startupFile] as const),
  ...[
    'PYTHONPATH',
    'NODE_PATH',
    'PERL5LIB',
    'PERLLIB',
    'RUBYLIB',
    'LUA_PATH',
    'LUA_CPATH',
    'CLASSPATH',
    'GEM_PATH',
    'GEM_HOME',
    'AWKPATH',
    'AWKLIBPATH',
  ].map((name) => [name, libraryPath] as const),
  [
    'NODE_OPTIONS',
    optionsUnless(
      /(^|\s)(-r|--require|--import|--loader|--experimental-loader|--inspect|--env-file|--openssl|--icu-data-dir|--diagnostic-dir|--redirect-warnings|--report|--cpu-prof-dir|--heap-prof-dir|--snapshot-blob)/,
      'system_write',
    ),
  ],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_OPTS', 'MAVEN_OPTS', 'GRADLE_OPTS', 'SBT_OPTS'].map(
    (name) =>
      [
        name,
        optionsUnless(
          /-(javaagent|agentlib|agentpath|Xbootclasspath|XX:On|XX:\+FlagsFinal|Djava\.(class|library)\.path|cp\b|classpath)/,
          'code_execution',
        ),
      ] as const,
  ),
  ['GOFLAGS', optionsUnless(/-(toolexec|exec|overlay|modfile|vettool)/, 'code_execution')],
  ['RUSTFLAGS', optionsUnless(/linker|-Zcodegen|link-arg/, 'code_execution')],
  ['PYTEST_ADDOPTS', optionsUnless(/-p|--pyargs|--rootdir|-c/, 'code_execution')],
  ['LESS', optionsUnless(/\+|-k|-o|-O|--log|--lesskey/, 'code_execution')],
  ...[
    'PAGER',
    'GIT_PAGER',
    'MANPAGER',
    'BAT_PAGER',
    'DELTA_PAGER',
    'GH_PAGER',
    'SYSTEMD_PAGER',
    'AWS_PAGER',
    'PSQL_PAGER',
    'EDITOR',
    'VISUAL',
    'GIT_EDITOR',
    'GIT_SEQUENCE_EDITOR',
    'FCEDIT',
    'SUDO_EDITOR',
    'SYSTEMD_EDITOR',
    'KUBE_EDITOR',
    'BROWSER',
    'GH_BROWSER',
    'LESSOPEN',
    'LESSCLOSE',
    'MANOPT',
    'SHELL',
    'GIT_SSH',
    'GIT_SSH_COMMAND',
    'GIT_EXTERNAL_DIFF',
    'GIT_ASKPASS',
    'SSH_ASKPASS',
    'SUDO_ASKPASS',
    'GIT_PROXY_COMMAND',
    'RSYNC_RSH',
    'RSYNC_CONNECT_PROG',
    'CVS_RSH',
    'SVN_SSH',
    'HGEDITOR',
    'SVN_EDITOR',
    'CARGO_BUILD_RUSTC_WRAPPER',
    'RUSTC_WRAPPER',
    'RUSTC_WORKSPACE_WRAPPER',
    'RUSTC',
    'RUSTDOC',
    'TAR_OPTIONS',
    'TEST_SHELL_PATH',
    'FZF_DEFAULT_COMMAND',
    'FZF_CTRL_T_COMMAND',
    'CONFIG_SHELL',
    'COMPRESSOR',
    'XZ_OPT_PROGRAM',
    'TEXEDIT',
    'GIT_DIFF_TOOL',
    'MAKESHELL',
    'SCONS_SHELL',
  ].map((name) => [name, command] as const),
  ...[
    'GIT_CONFIG',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_SYSTEM',
    'GIT_CONFIG_COUNT',
    'GIT_EXEC_PATH',
    'GIT_TEMPLATE_DIR',
    'GIT_ALTERNATE_OBJECT_DIRECTORIES',
    'GIT_OBJECT_DIRECTORY',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_CONFIG_DIRS',
    'HOME',
    'MAKEFILES',
    'CC',
    'CXX',
    'LD',
    'AR',
    'CPP',
    'AS',
    'DOCKER_HOST',
    'DOCKER_CONFIG',
    'KUBECONFIG',
    'AWS_CONFIG_FILE',
    'PIP_CONFIG_FILE',
    'NPM_CONFIG_USERCONFIG',
    'CARGO_HOME',
    'RUSTUP_HOME',
    'GRADLE_USER_HOME',
    'M2_HOME',
    'TERMINFO_DIRS',
    'SSL_CERT_FILE',
    'NODE_EXTRA_CA_CERTS',
    'BASH_FUNC',
    'BASHOPTS',
    'SHELLOPTS',
    'CDPATH',
    'GLOBIGNORE',
    'IFS',
    'ASAN_OPTIONS',
    'LSAN_OPTIONS',
    'VIMRUNTIME',
    'EMACSLOADPATH',
    'BASH_XTRACEFD',
    'HISTFILE',
    'PIP_TARGET',
    'CURL_HOME',
    'WGETRC',
    'SYSTEM_WGETRC',
    'ANSIBLE_CONFIG',
    'HTTPIE_CONFIG_DIR',
    'npm_config_script_shell',
    'npm_config_node_options',
    'npm_config_shell',
    'npm_config_git',
    'npm_config_prefix',
    'npm_config_userconfig',
    'npm_config_globalconfig',
    'npm_config_editor',
    'npm_config_viewer',
    'npm_config_ignore_scripts_off',
  ].map((name) => [name, STARTS] as const),
]);

const BY_PREFIX: readonly (readonly [RegExp, Judge])[] = [
  [/^(LD_|DYLD_)/, LOADER],
  [/^(GIT_CONFIG_VALUE_\d*|GIT_CONFIG_PARAMETERS|MAKEFLAGS|MFLAGS)$/, settingText],
  [/^GIT_CONFIG_KEY_/, STARTS],
  [/^GIT_TRACE/, (host, subject, scene, state, _name, value) => writesThere(host, subject, scene, state, value)],
  [/^npm_config_.*(shell|node_options|prefix|rc|editor|viewer|git|init_module|onload_script)$/i, STARTS],
  [/^BASH_FUNC_/, STARTS],
  [/^CARGO_TARGET_.*_(LINKER|RUNNER)$/, command],
  [/^(HTTPS?|ALL|FTP)_PROXY$/i, () => undefined],
];

/** Only what a pure assignment to the shell itself needs no word about. */
const OWN = new Set(['IFS', 'HISTFILE', 'GLOBIGNORE', 'CDPATH', 'LD', 'AR', 'AS', 'CPP', 'HOME', 'SHELL', 'LESS', 'ENV']);

function writesThere(host: Interpreter, subject: Subject, scene: Scene, state: State, value: Text): void {
  if (!value.startsWith('/')) return;
  for (const { effect, reason, ...more } of host.paths.write(value, state.cwd)) host.report(subject, scene, effect, reason, more);
}

/** A variable is set for a command, or for the shell itself: does that change what runs? */
export function judgeVariable(host: Interpreter, subject: Subject, scene: Scene, state: State, name: string, value: Text): void {
  const judge = TABLE.get(name) ?? BY_PREFIX.find(([pattern]) => pattern.test(name))?.[1];
  if (judge === undefined) return;
  // ENV names a start-up file for sh, and everywhere else it is a word such as `production`.
  if (name === 'ENV' && isKnown(value) && !value.includes('/')) return;
  if (OWN.has(name) && judge === STARTS && isKnown(value) && name !== 'HOME') return;
  judge(host, subject, scene, state, name, value);
}
