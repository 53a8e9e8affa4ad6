import type { Readable } from 'node:stream';
import { channelEnvironment, type Execution, type NetworkUse } from '../../execution/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { createPackages, type InstallerEnd, type InstallerRun, type Packages } from '../../upstreams/index.ts';

/** Of what an installer says; the end says why. */
const KEPT_CHARS = 64 * 1024;

export interface LocalPackagesParts {
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly config: Config;
  readonly clock: Clock;
  execution(): Promise<Execution>;
}

/** The packages of this machine's servers; their installers run contained, and reach the registries alone. */
export function createLocalPackages({ facts, home, config, clock, execution }: LocalPackagesParts): Packages {
  async function run({ argv, env: own, folder, network }: InstallerRun, signal: AbortSignal): Promise<InstallerEnd> {
    const { env } = channelEnvironment({ parent: facts.host_env, overrides: own });
    const installation = { path: folder, access: 'write' } as const;
    const { limits } = config.sandbox;
    const spec = { name: 'install', argv, cwd: folder, env, roots: [], installation, network, unix_sockets: [], limits };
    const channel = await (await execution()).connect(spec, signal);
    const stop = (): void => void channel.close(0);
    signal.addEventListener('abort', stop, { once: true });
    try {
      channel.stdin.end();
      const [out, err, end] = await Promise.all([tailOf(channel.stdout), tailOf(channel.stderr), channel.ended]);
      if (signal.aborted) throw new AppError('cancelled', 'The installation was cancelled; nothing was changed.');
      const { exit_code, limits_hit } = end;
      return { ...(exit_code === undefined ? {} : { exit_code }), output: out + err, limits_hit, refused: refusedBy(end.network) };
    } finally {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) await channel.ended;
    }
  }

  return createPackages({
    home,
    clock,
    node: process.execPath,
    user_home: facts.user.home,
    host_env: facts.host_env,
    async machine() {
      const here = await execution();
      const env = Object.fromEntries(Object.entries(facts.host_env).filter(([name]) => name === 'PATH'));
      return { folder: here.installations(), has: (program) => here.findProgram({ argv: [program], env }).ok };
    },
    run,
  });
}

async function tailOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) text = (text + String(piece)).slice(-KEPT_CHARS);
  return text;
}

function refusedBy(network: NetworkUse | undefined): readonly string[] {
  return (network?.refused ?? []).map(({ host, port, reason }) => `${host}:${port} (${reason})`);
}
