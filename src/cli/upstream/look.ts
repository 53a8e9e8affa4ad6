import type { Command } from 'commander';
import { visible } from '../../kernel/visible.ts';
import { keyOf, type UpstreamStatus } from '../../upstreams/index.ts';
import type { App, ConfiguredServer, Terminal, UpstreamsPort } from '../app.ts';
import { integrityOf } from './install.ts';
import { configured, named, withUpstreams } from './with-upstreams.ts';

const rendering = () => import('./render.ts');

/** What there is and how it is. */
export function lookCommands(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('list')
    .description('as they are configured here')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        const live = await liveOf(port);
        const all = await Promise.all(port.servers.map(async (each) => ({ ...each, state: await stateOf(each, port), live: live(each) })));
        const { liveState, renderList } = await rendering();
        if (options.json) return terminal.out(`${JSON.stringify(all.map((each) => plain(each, port)))}\n`);
        terminal.out(
          `${renderList(all.map((each) => ({ ...each, state: each.live === undefined ? each.state : `${liveState(each.live)}${each.live.reason === undefined ? '' : `: ${each.live.reason}`}` })))}\n`,
        );
      });
    });

  upstream
    .command('show')
    .description('one of them, whole')
    .argument('<name>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        const server = configured(port, name);
        const state = await stateOf(server, port);
        const live = (await liveOf(port))(server);
        const { renderNotes, renderSettings, renderStatus } = await rendering();
        if (options.json) return terminal.out(`${JSON.stringify(plain({ ...server, state, live }, port))}\n`);
        if (server.read.ok) terminal.out(`${renderSettings(port.mask(server.read.settings))}\n`);
        terminal.out(`${installedLines(server, port)}  ${'state'.padEnd(10)} ${state}\n`);
        if (live !== undefined) terminal.out(`Where Writ serves agents:\n  ${renderStatus(live)}\n`);
        if (!server.read.ok) terminal.out(renderNotes(server.read.problems));
        terminal.out(renderNotes(server.read.warnings));
      });
    });

  for (const [word, what] of [
    ['test', 'start one, list its tools, end it'],
    ['tools', 'the tools of one, as they are for agents'],
  ] as const) {
    upstream
      .command(word)
      .description(what)
      .argument('<name>')
      .option('--json', 'machine-readable output')
      .action(async (name: string, options: { json?: boolean }) => {
        await withUpstreams(app, async (port) => {
          const looked = await port.look(named(port, name));
          const { renderLook } = await rendering();
          if (options.json) terminal.out(`${JSON.stringify(looked)}\n`);
          else terminal.out(`${renderLook(looked)}\n`);
          if (looked.status.state !== 'connected') terminal.exit(1);
        });
      });
  }
}

/** In words, without starting it. */
async function stateOf({ read }: ConfiguredServer, { approvals, packageOf }: UpstreamsPort): Promise<string> {
  if (!read.ok) return `can't be used: ${read.problems.map(({ message }) => message).join('; ')}`;
  if (!read.settings.enabled) return 'disabled';
  const judged = await approvals.judgeServer(read.settings);
  const found = packageOf(read.settings);
  if ('reason' in found && judged.state !== 'denied')
    return `${found.state === 'changed' ? 'quarantined' : 'needs install'}: ${found.reason}`;
  if (judged.state === 'approved') return 'may start';
  return `${judged.state === 'denied' ? 'denied' : 'needs approval'}: ${judged.reason}`;
}

/** What is installed for it, as a person reads it. */
function installedLines({ read }: ConfiguredServer, { packageOf }: UpstreamsPort): string {
  const found = read.ok ? packageOf(read.settings) : undefined;
  if (found?.state !== 'installed') return '';
  const { package: what, package_version, folder } = found.record;
  return `  ${'installed'.padEnd(10)} ${visible(`${what} ${package_version}, ${integrityOf(found.record)}, in ${folder}`)}\n`;
}

type Looked = ConfiguredServer & { readonly state: string; readonly live: UpstreamStatus | undefined };

/** How each is where it runs; of several, one that is connected. Undefined: nothing that runs has it. */
async function liveOf(port: UpstreamsPort): Promise<(server: ConfiguredServer) => UpstreamStatus | undefined> {
  // A list of what is configured needs nobody: one that doesn't answer is only not told of.
  const running = await (await port.running())?.list().catch(() => undefined);
  return ({ name, read }) => {
    const project = read.ok ? keyOf(read.settings).project : null;
    const all = running?.filter((status) => status.name === name && (status.project ?? null) === project);
    return all?.find(({ state }) => state === 'connected') ?? all?.[0];
  };
}

/** For programs: the same shape whether it can be used or not. */
function plain({ name, source, read, state, live }: Looked, { mask, packageOf }: UpstreamsPort): object {
  const found = read.ok ? packageOf(read.settings) : undefined;
  const installed = found?.state === 'installed' ? { installed: found.record } : {};
  const notes = { problems: read.ok ? [] : read.problems, warnings: read.warnings };
  return {
    name,
    source,
    state,
    ...installed,
    ...(live === undefined ? {} : { live }),
    ...(read.ok ? { settings: mask(read.settings) } : {}),
    ...notes,
  };
}
