import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import { keyOf, type UpstreamSettings, versionIn } from '../../upstreams/index.ts';
import type { App, Terminal, UpstreamsPort } from '../app.ts';
import type { Keyboard } from '../keyboard.ts';
import { atTheKeyboard, configured, named, recorded, withUpstreams } from './with-upstreams.ts';

const rendering = () => import('./render.ts');

/** What people answered about servers and tools. */
export function answerCommands(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
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
    .argument('<name>', 'one that is not configured any more, too')
    .argument('[tools...]')
    .action(async (name: string, tools: readonly string[]) => {
      await withUpstreams(app, async (port) => {
        const known = port.servers.some((each) => each.name === name) ? configured(port, name).read : undefined;
        const key = known?.ok ? keyOf(known.settings) : { name, project: null };
        const there = await port.approvals.revoke(key, port.operator, tools.length === 0 ? undefined : tools);
        terminal.out(there ? 'Forgotten: it is asked about again.\n' : 'Nothing was known of it.\n');
      });
    });
}

async function approveServer(settings: UpstreamSettings, port: UpstreamsPort, keyboard: Keyboard, terminal: Terminal): Promise<boolean> {
  const { approvals, operator, mask, packageOf } = port;
  const judged = await approvals.judgeServer(settings);
  if (judged.state === 'approved') return true;
  const found = packageOf(settings);
  // Its version is part of what is approved.
  if ('reason' in found) throw new AppError('invalid_arguments', `"${settings.name}" can't be approved yet: ${found.reason}.`);
  const { renderDifference, renderNotes, renderSettings } = await rendering();
  terminal.out(`${renderSettings(mask(settings))}\n`);
  if (found.state === 'installed') terminal.out(`  ${'installed'.padEnd(10)} ${visible(versionIn(found.record))}\n`);
  terminal.out(renderNotes(configured(port, settings.name).read.warnings));
  if (judged.state === 'changed') terminal.out(`${renderDifference(judged.difference)}\n`);
  terminal.out(`  ${judged.reason}\n`);
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
  const key = keyOf(settings);
  const upstreams = await recorded(approvals);
  const found = upstreams.find((each) => each.name === key.name && each.project === key.project);
  const waiting = (found?.tools ?? []).filter(({ state, name }) =>
    names.length === 0 ? state === 'asked' || state === 'changed' : names.includes(name),
  );
  for (const name of names) {
    if (!waiting.some((tool) => tool.name === name)) {
      throw new AppError('not_found', `"${settings.name}" has shown no tool ${JSON.stringify(name.slice(0, 80))}.`, {
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
  const answered = await approvals.approveTools(key, waiting, operator);
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
