import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem, userInfo } from 'node:os';
import { join } from 'node:path';

/** Everything Writ takes from its surroundings, read once at start. No other file reads the environment, argv or uid. */
export interface ProcessFacts {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[];
  /** How this program can be started again: the Node binary, its options, the script. */
  readonly self: readonly string[];
  /** Snapshot of the environment: source for allow-lists, never handed on whole. No prototype, so every name is an ordinary one. */
  readonly host_env: Readonly<Record<string, string>>;
  /** Undefined when the folder Writ was started in no longer exists. */
  readonly cwd: string | undefined;
  readonly pid: number;
  readonly ppid: number;
  readonly uid: number;
  readonly gid: number;
  readonly is_root: boolean;
  /** The person, from the passwd entry of the real uid and never from HOME or USER. `home` is undefined when there is no entry. */
  readonly user: { readonly name: string; readonly home: string | undefined; readonly shell: string | undefined };
  /** Where Writ keeps its files, as asked for and not yet checked (see `ensureHome`). */
  readonly writ_home: { readonly path: string | undefined; readonly from: 'WRIT_HOME' | 'passwd' };
  readonly cores: number;
  /** What the machine (or the cgroup this process is in) has. */
  readonly memory_bytes: number;
  readonly platform: string;
}

export function readProcess(): ProcessFacts {
  const host_env: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) host_env[name] = value;
  const uid = process.getuid?.() ?? -1;
  const user = readUser(uid);
  const asked = host_env['WRIT_HOME'];
  const machine = totalmem();
  const allowed = process.constrainedMemory();
  return {
    argv: process.argv.slice(2),
    self: [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)],
    host_env,
    cwd: readCwd(),
    pid: process.pid,
    ppid: process.ppid,
    uid,
    gid: process.getgid?.() ?? -1,
    is_root: uid === 0,
    user,
    writ_home:
      asked !== undefined && asked !== ''
        ? { path: asked, from: 'WRIT_HOME' }
        : { path: user.home === undefined ? undefined : join(user.home, '.writ'), from: 'passwd' },
    cores: availableParallelism(),
    memory_bytes: allowed > 0 && allowed < machine ? allowed : machine,
    platform: process.platform,
  };
}

function readCwd(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/**
 * `userInfo` asks the name service (so LDAP users work) for the **effective** uid. Where the real uid differs (a setuid start)
 * the entry is looked up in /etc/passwd instead: the effective user's home must not be taken for the person's.
 */
function readUser(uid: number): ProcessFacts['user'] {
  if (process.geteuid === undefined || process.geteuid() === uid) {
    try {
      const { username, homedir, shell } = userInfo();
      return { name: username, home: homedir === '' ? undefined : homedir, shell: shell ?? undefined };
    } catch {
      return { name: String(uid), home: undefined, shell: undefined };
    }
  }
  return passwdEntry(uid) ?? { name: String(uid), home: undefined, shell: undefined };
}

function passwdEntry(uid: number): ProcessFacts['user'] | undefined {
  let text: string;
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return undefined;
  }
  for (const line of text.split('\n')) {
    const [name, , entry, , , home, shell] = line.split(':');
    if (name !== undefined && entry === String(uid)) return { name, home: home || undefined, shell: shell || undefined };
  }
  return undefined;
}
