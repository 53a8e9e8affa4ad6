import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { ListedUpstream, UpstreamSettings } from '../../upstreams/index.ts';
import type { App, Terminal, UpstreamsPort } from '../app.ts';
import type { Keyboard } from '../keyboard.ts';

const rendering = () => import('../upstreams.ts');

export function upstreamCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const upstream = program.command('upstream').description('MCP servers behind this door: what they are, what they may');

  upstream
    .command('list')
    .description('as they are configured here')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      await withUpstreams(app, async ({ settings, approvals }) => {
        if (options.json) return terminal.out(`${JSON.stringify(settings)}\n`);
        if (settings.length === 0) return terminal.out('None are configured (mcp_servers in ~/.writ/config.json).\n');
        for (const each of settings) {
          const judged = await approvals.judgeServer(each);
          const state = !each.enabled ? 'disabled' : judged.state === 'approved' ? 'may start' : `waits: ${judged.reason}`;
          const { transport } = each;
          terminal.out(`  ${each.name.padEnd(24)} ${transport.type.padEnd(6)} ${each.source.padEnd(9)} ${state}\n`);
        }
      });
    });

  upstream
    .command('show')
    .description('one of them, whole')
    .argument('<name>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        const settings = named(port, name);
        const { renderSettings } = await rendering();
        terminal.out(options.json ? `${JSON.stringify(settings)}\n` : `${renderSettings(settings)}\n`);
      });
    });

  upstream
    .command('test')
    .description('start one, list its tools, end it')
    .argument('<name>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        named(port, name);
        const { status, tools, log } = await port.look(name);
        if (options.json) terminal.out(`${JSON.stringify({ status, tools, log })}\n`);
        else {
          const { renderTools } = await rendering();
          const what =
            status.identity === undefined ? '' : ` as ${status.identity.name} ${status.identity.version} (${status.identity.protocol})`;
          terminal.out(
            `${name}: ${status.state}${what}${status.reason === undefined ? '' : `: ${status.reason}`}\n${renderTools(tools)}\n`,
          );
          if (status.state !== 'connected') for (const line of log.slice(-20)) terminal.out(`  [${name}] ${line}\n`);
        }
        if (status.state !== 'connected') terminal.exit(1);
      });
    });

  upstream
    .command('approvals')
    .description('what was approved, seen, and waits for an answer')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      await withUpstreams(app, async ({ approvals }) => {
        const upstreams = await recorded(approvals);
        const { renderApprovals } = await rendering();
        terminal.out(options.json ? `${JSON.stringify(upstreams)}\n` : `${renderApprovals(upstreams)}\n`);
      });
    });

  upstream
    .command('approve')
    .description('let a server start, or its new and changed tools be used; in a terminal of your own')
    .argument('<name>')
    .argument('[tools...]', 'default: all that wait for an answer')
    .action(async (name: string, tools: readonly string[]) => {
      await atTheKeyboard(app, terminal, async (port, keyboard) => {
        const settings = named(port, name);
        if (!(await approveServer(settings, port, keyboard, terminal))) return terminal.exit(1);
        if (!(await approveTools(settings, tools, port, keyboard, terminal))) terminal.exit(1);
      });
    });

  upstream
    .command('deny')
    .description('never start it, or never use some of its tools, until you approve or revoke')
    .argument('<name>')
    .argument('[tools...]')
    .action(async (name: string, tools: readonly string[]) => {
      await withUpstreams(app, async (port) => {
        await port.approvals.deny(named(port, name), port.operator, tools.length === 0 ? undefined : tools);
        terminal.out(`Denied: ${name}${tools.length === 0 ? '' : ` ${tools.join(', ')}`}.\n`);
      });
    });

  upstream
    .command('revoke')
    .description('forget what was answered and pinned')
    .argument('<name>')
    .argument('[tools...]')
    .action(async (name: string, tools: readonly string[]) => {
      await withUpstreams(app, async ({ settings, approvals, operator }) => {
        const configured = settings.find((each) => each.name === name);
        const project = configured?.source === 'project' ? (configured.project ?? '') : null;
        const known = await approvals.revoke({ name, project }, operator, tools.length === 0 ? undefined : tools);
        terminal.out(known ? 'Forgotten: it is asked about again.\n' : 'Nothing was known of it.\n');
      });
    });
}

async function approveServer(
  settings: UpstreamSettings,
  { approvals, operator }: UpstreamsPort,
  keyboard: Keyboard,
  terminal: Terminal,
): Promise<boolean> {
  const judged = await approvals.judgeServer(settings);
  if (judged.state === 'approved') return true;
  const { renderSettings } = await rendering();
  terminal.out(`${renderSettings(settings)}\n  ${judged.reason}\n`);
  if (!(await saysYes(keyboard, '  Let it be started? Type "yes": '))) return undecided(terminal);
  const answer = await approvals.approveServer(settings, { sha256: judged.sha256, by: operator });
  if (!answer.ok) throw new AppError('backend_changed', answer.message);
  terminal.out('  Approved. Its tools are asked about once it has shown them.\n');
  return true;
}

async function approveTools(
  settings: UpstreamSettings,
  names: readonly string[],
  { approvals, operator }: UpstreamsPort,
  keyboard: Keyboard,
  terminal: Terminal,
): Promise<boolean> {
  const project = settings.source === 'project' ? (settings.project ?? '') : null;
  const upstreams = await recorded(approvals);
  const found = upstreams.find((each) => each.name === settings.name && each.project === project);
  const waiting = (found?.tools ?? []).filter(({ state, name }) =>
    names.length === 0 ? state === 'asked' || state === 'changed' : names.includes(name),
  );
  for (const name of names) {
    if (!waiting.some((tool) => tool.name === name)) {
      throw new AppError('not_found', `"${settings.name}" has shown no tool "${name}".`, {
        fix: `\`writ upstream test ${settings.name}\` looks.`,
      });
    }
  }
  if (waiting.length === 0) {
    terminal.out('  No tool of it waits for an answer.\n');
    return true;
  }
  const { renderQuestion } = await rendering();
  for (const tool of waiting) terminal.out(`${renderQuestion(tool)}\n`);
  if (!(await saysYes(keyboard, `  Let ${waiting.length === 1 ? 'it' : `these ${waiting.length}`} be used? Type "yes": `)))
    return undecided(terminal);
  const answered = await approvals.approveTools({ name: settings.name, project }, waiting, operator);
  for (const { name, answer } of answered) if (!answer.ok) terminal.out(`  ${name}: ${answer.message}\n`);
  const approved = answered.filter(({ answer }) => answer.ok).length;
  terminal.out(`  Approved: ${approved} of ${answered.length}.\n`);
  return approved === answered.length;
}

async function saysYes(keyboard: Keyboard, question: string): Promise<boolean> {
  return (await keyboard.line(question))?.trim().toLowerCase() === 'yes';
}

function undecided(terminal: Terminal): false {
  terminal.out('  Nothing was decided.\n');
  return false;
}

function named({ settings }: UpstreamsPort, name: string): UpstreamSettings {
  const found = settings.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = settings.map((each) => each.name).join(', ') || 'none';
  throw new AppError('not_found', `No MCP server "${name}" is configured here; there are: ${known}.`, {
    fix: 'Those of a project are seen in its folder.',
  });
}

async function recorded(approvals: UpstreamsPort['approvals']): Promise<readonly ListedUpstream[]> {
  const listed = await approvals.list();
  if (listed.ok) return listed.upstreams;
  throw new AppError('store_unavailable', listed.problem, { fix: listed.fix });
}

async function withUpstreams(app: () => Promise<App>, use: (port: UpstreamsPort) => Promise<void>): Promise<void> {
  const parts = await app();
  const port = await parts.upstreams();
  try {
    await use(port);
  } finally {
    await port.close();
    await (await parts.audit()).close();
  }
}

async function atTheKeyboard(
  app: () => Promise<App>,
  terminal: Terminal,
  use: (port: UpstreamsPort, keyboard: Keyboard) => Promise<void>,
): Promise<void> {
  const keyboard = await terminal.keyboard?.();
  if (keyboard?.isTerminal !== true) {
    throw new AppError('denied_by_policy', 'Servers and tools are approved by a person at a terminal, and this is none.', {
      fix: 'Run it in a terminal window of your own, without pipes.',
    });
  }
  try {
    await withUpstreams(app, async (port) => {
      if (port.actsForAgent()) {
        throw new AppError('denied_by_policy', 'This terminal belongs to a host whose agent uses this Writ: nobody approves themselves.', {
          fix: 'Answer in a terminal that you opened yourself.',
        });
      }
      await use(port, keyboard);
    });
  } finally {
    keyboard.close();
  }
}
