import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import type { Installed, InstallRecord, UpstreamSettings } from '../../upstreams/index.ts';
import type { App, Terminal, UpstreamsPort } from '../app.ts';
import { collect } from '../repeatable.ts';
import { named, withUpstreams } from './with-upstreams.ts';

interface Flags {
  readonly update?: boolean;
  readonly host: readonly string[];
  readonly json?: boolean;
}

export function installCommand(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('install')
    .description('install the package of a server that is written with npx, uvx or the like; it is started from there')
    .argument('<name>')
    .option('--update', 'the newest version that its command allows, where one is installed already')
    .option('--host <name>', 'a host that the installer may reach besides the registry; repeatable', collect, [])
    .option('--json', 'machine-readable output')
    .action(async (name: string, { update = false, host, json }: Flags) => {
      const parts = await app();
      await withUpstreams(app, async (port) => {
        const settings = named(port, name);
        if (json !== true) terminal.out(announced(settings, port));
        const installed = await port.install(settings, { update, hosts: host }, untilTold(parts));
        if (installed.type === 'none') {
          throw new AppError('invalid_arguments', `There is nothing to install for "${name}": its command downloads nothing.`);
        }
        const { type, record } = installed;
        if (json) terminal.out(`${JSON.stringify({ name, done: type === 'installed', ...record })}\n`);
        else terminal.out(renderInstalled(installed));
      });
    });
}

/** Ctrl-C ends an installation, and nothing of it stays. */
export function untilTold(parts: App): AbortSignal {
  const over = new AbortController();
  void parts.untilSignal().then(() => over.abort(new AppError('cancelled', 'The installation was cancelled; nothing was changed.')));
  return over.signal;
}

/** What will be fetched, said before it is; empty: nothing. */
export function announced(settings: UpstreamSettings, port: Pick<UpstreamsPort, 'packageOf'>): string {
  const found = port.packageOf(settings);
  if (found.state !== 'missing' && found.state !== 'changed') return '';
  const { specs, ecosystem, registry } = found.wanted;
  const from = registry ?? (ecosystem === 'npm' ? 'the npm registry' : 'the Python package index');
  return `  installs   ${visible(specs.join(' '))} from ${visible(from)}, without running its install scripts\n`;
}

export function renderInstalled(installed: Installed): string {
  if (installed.type === 'none') return '';
  const { record } = installed;
  const word = installed.type === 'there' ? 'is installed already' : 'is installed';
  return `  ${visible(record.package)} ${visible(record.package_version)} ${word} (${record.packages} packages, ${visible(integrityOf(record))})\n`;
}

/** Enough to tell one from another; `--json` has all of it. */
export function integrityOf({ integrity, lock }: InstallRecord): string {
  return `${(integrity ?? `sha256-${lock}`).slice(0, 15)}...`;
}
