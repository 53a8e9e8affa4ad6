import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { AppError } from '../../kernel/errors.ts';
import type { Engine, EngineCandidate, EngineKind } from './types.ts';

/** Where the engines are installed, Podman first: it needs no service, and without root it is no way to root. */
export const ENGINES: readonly EngineCandidate[] = [
  { kind: 'podman', path: '/usr/bin/podman' },
  { kind: 'podman', path: '/usr/local/bin/podman' },
  { kind: 'docker', path: '/usr/bin/docker' },
  { kind: 'docker', path: '/usr/local/bin/docker' },
];

/** Which files and which service an engine uses; nothing else of our environment reaches it. */
const PASSED = [
  'HOME',
  'PATH',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'DBUS_SESSION_BUS_ADDRESS',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'CONTAINERS_CONF',
  'CONTAINERS_STORAGE_CONF',
  'CONTAINERS_REGISTRIES_CONF',
];

const CALL_MS = 30_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

const INSTALL =
  'Install Podman (`apt-get install podman`, `dnf install podman`, `pacman -S podman`) or Docker and see that `podman info` or `docker info` works for this user; or leave --sandbox and sandbox.backend out, to contain with bubblewrap.';

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What of the environment of Writ the engine is started with. */
function engineEnv(host_env: Readonly<Record<string, string>>, user_home: string): Readonly<Record<string, string>> {
  const env: Record<string, string> = {
    HOME: user_home,
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
  };
  for (const name of PASSED) {
    const value = host_env[name];
    if (value !== undefined && value !== '') env[name] = value;
  }
  return env;
}

/** One call of the engine. Bounded in time and output; what it answers is judged by the caller. */
export async function callEngine(
  engine: Pick<Engine, 'path' | 'options' | 'env'>,
  args: readonly string[],
  { timeout_ms = CALL_MS, input }: { readonly timeout_ms?: number; readonly input?: Uint8Array } = {},
): Promise<Answer> {
  const child = spawn(engine.path, [...engine.options, ...args], {
    cwd: '/',
    env: engine.env,
    // What it starts (a monitor for each container) must not end with our terminal.
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(0, MAX_OUTPUT_BYTES);
    });
  }
  // An engine that fails early closes its end; its own message says more than EPIPE.
  child.stdin?.on('error', () => undefined).end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeout_ms);
  try {
    // The end of the process, not of its streams: a monitor may have inherited those.
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
      child.on('exit', (exit) => setTimeout(resolve, 200, exit).unref());
    });
    return { code, ...output };
  } catch (cause) {
    return { code: null, stdout: '', stderr: cause instanceof Error ? cause.message : String(cause) };
  } finally {
    clearTimeout(timer);
  }
}

/** What it says of itself, in one line of fields. */
const FACTS: Readonly<Record<EngineKind, readonly string[]>> = {
  podman: [
    'info',
    '--format',
    '{{.Version.Version}}|{{.Host.Security.Rootless}}|{{.Host.ServiceIsRemote}}|{{.Host.OCIRuntime.Name}}|{{.Host.CgroupsVersion}}',
  ],
  docker: ['info', '--format', '{{.ServerVersion}}|{{json .SecurityOptions}}|{{.OSType}}'],
};

/** The first candidate that is there and answers. AppError backend_unavailable when there is none: nothing takes its place. */
export async function findEngine(input: {
  readonly candidates: readonly EngineCandidate[];
  readonly host_env: Readonly<Record<string, string>>;
  readonly user_home: string;
}): Promise<Engine> {
  const env = engineEnv(input.host_env, input.user_home);
  const failed: string[] = [];
  for (const candidate of input.candidates) {
    if (!canRun(candidate.path)) continue;
    const answer = await callEngine({ path: candidate.path, options: [], env }, FACTS[candidate.kind]);
    const engine = answer.code === 0 ? read(candidate, answer.stdout.trim(), env) : complaint(answer.stderr) || `exit ${answer.code}`;
    if (typeof engine !== 'string') return engine;
    failed.push(`${candidate.path}: ${engine}`);
  }
  const paths = input.candidates.map(({ path }) => path).join(', ');
  throw new AppError(
    'backend_unavailable',
    failed.length > 0 ? `No container engine answers (${failed.join('; ')}).` : `No container engine is installed (looked at ${paths}).`,
    { fix: INSTALL },
  );
}

function read(candidate: EngineCandidate, line: string, env: Engine['env']): Engine | string {
  const [version = '', second = '', third = '', runtime, cgroups] = line.split('|');
  if (version === '') return 'its service does not answer';
  const remote = candidate.kind === 'podman' && third === 'true';
  if (remote || (candidate.kind === 'docker' && third !== 'linux')) return 'it runs containers on another machine';
  return {
    ...candidate,
    version,
    rootless: candidate.kind === 'podman' ? second === 'true' : second.includes('name=rootless'),
    // crun refuses hosts that have both versions of control groups mounted; runc takes them.
    options: candidate.kind === 'podman' && runtime === 'crun' && cgroups !== 'v2' && RUNC.some(canRun) ? ['--runtime', 'runc'] : [],
    env,
  };
}

const RUNC = ['/usr/bin/runc', '/usr/sbin/runc', '/usr/local/bin/runc', '/usr/local/sbin/runc'] as const;

/** What can't be looked at isn't there. */
function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The line of its complaints that says what is wrong. */
export function complaint(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (lines.findLast((line) => /error|cannot|denied/i.test(line)) ?? lines.at(-1) ?? '').slice(0, 500);
}
