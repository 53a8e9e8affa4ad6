import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import { keyOf, type UpstreamKey } from '../../upstreams/index.ts';
import type { App, RunningServers, Terminal, UpstreamsPort } from '../app.ts';
import { configured, withUpstreams } from './with-upstreams.ts';

const LINES = 50;
/** As many as are kept. */
const MOST_LINES = 500;

/** What is asked of the processes that have the servers. */
export function runningCommands(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('reconnect')
    .description('end the connection to a server and make a new one, in every process that has it')
    .argument('<name>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        const { running, key } = await find(port, name);
        const all = await running.reconnect(key);
        const { renderStatus } = await import('./render.ts');
        terminal.out(options.json ? `${JSON.stringify(all)}\n` : `${all.map(renderStatus).join('\n')}\n`);
        if (all.some(({ state }) => state !== 'connected')) terminal.exit(1);
      });
    });

  upstream
    .command('logs')
    .description('what a server that runs wrote on its standard error')
    .argument('<name>')
    .option('-n, --lines <count>', `how many of the last ones, at most ${MOST_LINES}`, String(LINES))
    .option('-f, --follow', 'go on until Ctrl-C')
    .action(async (name: string, options: { lines: string; follow?: boolean }) => {
      const lines = Number(options.lines);
      if (!/^\d+$/.test(options.lines) || lines > MOST_LINES) {
        throw new AppError('invalid_arguments', `--lines must be a whole number from 0 to ${MOST_LINES}.`);
      }
      const parts = await app();
      await withUpstreams(app, async (port) => {
        const { running, key } = await find(port, name);
        const over = new AbortController();
        const follow = options.follow === true;
        if (follow) void parts.untilSignal().then(() => over.abort());
        await running.log(key, { lines, follow }, (line) => terminal.out(`${line}\n`), over.signal);
      });
    });
}

async function find(port: UpstreamsPort, name: string): Promise<{ readonly running: RunningServers; readonly key: UpstreamKey }> {
  const { source, read } = configured(port, name);
  const key = read.ok ? keyOf(read.settings) : { name, project: null };
  if (!read.ok && source === 'project') throw new AppError('config_invalid', `The entry of "${name}" can't be used, so it runs nowhere.`);
  const running = await port.running();
  if (running !== undefined) return { running, key };
  throw new AppError(
    'upstream_unavailable',
    `Nothing runs here that has "${name}": no \`writ up\`, and no \`writ mcp\` with MCP servers.`,
    {
      fix: `\`writ upstream test ${name}\` starts it once and shows what it says.`,
    },
  );
}
