import type { Command } from 'commander';
import { APPROVAL_STATES, type ApprovalRecord, type ApprovalState } from '../../approvals/types.ts';
import { AppError } from '../../kernel/errors.ts';
import type { AnswerParts } from '../answering.ts';
import type { App, AskingPort, Terminal } from '../app.ts';
import { parseLife } from '../since.ts';
import { withAsking } from '../with-asking.ts';

const room = () => import('../approvals.ts');
const answering = () => import('../answering.ts');

/** Most that an answer is remembered. */
const MOST_DAYS = 30;

/** How often `watch` looks for new questions. */
const LOOK_MS = 250;

export function approvalCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const approvals = program.command('approvals').description('questions that agents put to you');

  approvals
    .command('list')
    .description('newest first')
    .option('--state <state>', APPROVAL_STATES.join(', '))
    .option('--limit <n>', 'how many', '50')
    .option('--json', 'machine-readable output')
    .action(async (options: { state?: string; limit: string; json?: boolean }) => {
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
        throw new AppError('invalid_arguments', '--limit must be a whole number from 1 to 1000.');
      const state = stateOf(options.state);
      await withAsking(app, async ({ approvals: all }, { clock }) => {
        const records = await all.list({ limit, ...(state === undefined ? {} : { state }) });
        const { renderApprovals } = await room();
        terminal.out(options.json ? `${JSON.stringify(records)}\n` : `${renderApprovals(records, clock.now())}\n`);
      });
    });

  approvals
    .command('show')
    .description('one question, whole')
    .argument('<id>')
    .option('--json', 'machine-readable output')
    .action(async (id: string, options: { json?: boolean }) => {
      await withAsking(app, async ({ approvals: all }, { clock }) => {
        const record = found(await all.get(id), id);
        const { renderApproval } = await room();
        terminal.out(options.json ? `${JSON.stringify(record)}\n` : `${renderApproval(record, clock.now())}\n`);
      });
    });

  approvals
    .command('approve')
    .description('say yes to one question, once, in a terminal of your own')
    .argument('<id>')
    .option('--hosts <names>', 'open the network to these hosts (comma-separated) in place of those on the card')
    .option('--note <text>', 'for the agent to read')
    .action(async (id: string, options: { hosts?: string; note?: string }) => {
      await atTheKeyboard(app, terminal, async (parts, asking) => {
        const record = await mayAnswer(id, asking);
        const { renderCard } = await import('../approvals.ts');
        terminal.out(`${renderCard(record, parts.now())}\n`);
        const opens = options.hosts === undefined ? undefined : withHosts(record, options.hosts.split(','));
        // Where the card asks for a word, that is the yes.
        const typed = record.card.word === undefined ? await parts.keyboard.line('  Approve this, once? Type "yes": ') : 'yes';
        if (typed?.trim().toLowerCase() !== 'yes') {
          terminal.out('  Nothing was decided: it stays open.\n');
          return terminal.exit(1);
        }
        const reply = { decision: 'approve', ...(opens ? { opens } : {}), ...(options.note ? { note: options.note } : {}) } as const;
        const { sendReply } = await answering();
        if ((await sendReply(record, reply, parts)) !== 'answered') terminal.exit(1);
      });
    });

  approvals
    .command('deny')
    .description('say no to one question, in a terminal of your own')
    .argument('<id>')
    .option('--note <text>', 'for the agent to read')
    .action(async (id: string, options: { note?: string }) => {
      await atTheKeyboard(app, terminal, async (parts, asking) => {
        const record = await mayAnswer(id, asking);
        const { renderCard } = await import('../approvals.ts');
        terminal.out(`${renderCard(record, parts.now())}\n`);
        const note =
          options.note ?? (await parts.keyboard.line('  Denied with a note for the agent (Enter for none, Ctrl-C to leave it open): '));
        if (note === undefined) return terminal.exit(1);
        const { sendReply } = await answering();
        await sendReply(record, { decision: 'deny', ...(note ? { note } : {}) }, parts);
      });
    });

  approvals
    .command('watch')
    .description('be asked here, in a terminal of your own, for as long as this runs')
    .option('--remember <time>', 'how long an answer that you remember (g) holds, such as 90m, 8h or 30d', '8h')
    .action(async (options: { remember: string }) => {
      const remember_ms = parseLife('--remember', options.remember, MOST_DAYS);
      await atTheKeyboard(app, terminal, async (parts, asking) => watch({ ...parts, remember_ms }, asking, terminal));
    });
}

async function watch(parts: AnswerParts, asking: AskingPort, terminal: Terminal): Promise<void> {
  const { approvals, keyboard } = parts;
  const { answerOne } = await answering();
  const seen = new Set<string>();
  const attended = approvals.attend('terminal');
  await attended.ready;
  terminal.out('Questions of agents are shown here as they come; q or Ctrl-C ends it.\n');
  try {
    for (;;) {
      const pending = (await approvals.list({ state: 'pending' })).toReversed();
      for (const id of seen) if (!pending.some((one) => one.id === id)) seen.delete(id);
      const next = pending.find(({ id }) => !seen.has(id));
      if (next === undefined) {
        const key = await keyboard.key(AbortSignal.timeout(LOOK_MS));
        if (key === 'q' || key === 'quit') return;
        continue;
      }
      seen.add(next.id);
      const acts = asking.actsFor(next);
      if (acts !== false) {
        const why = acts ? 'this terminal belongs to' : "it can't be found out whether this terminal belongs to";
        terminal.out(`\nQuestion ${next.id} can't be answered here: ${why} the program that asks it.\n`);
        continue;
      }
      // `s` puts it off: it comes again when the watch is started again, and can be answered by id.
      if ((await answerOne(next, parts, new AbortController().signal)) === 'quit') return;
    }
  } finally {
    await attended.close();
  }
}

async function mayAnswer(id: string, { approvals, actsFor, recordSelfApproval }: AskingPort): Promise<ApprovalRecord> {
  const record = found(await approvals.get(id), id);
  if (record.state !== 'pending') {
    throw new AppError('not_found', `Question ${id} is not open any more: ${record.state}.`, {
      fix: '`writ approvals list` shows what is.',
    });
  }
  const acts = actsFor(record);
  if (acts === false) return record;
  await recordSelfApproval(record);
  throw new AppError(
    'denied_by_policy',
    acts
      ? `This terminal belongs to the program that asks question ${id}, or to the host that started it: nobody approves themselves.`
      : `It can't be found out whether this terminal belongs to the program that asks question ${id}.`,
    { fix: 'Answer in a terminal that you opened yourself.', data: { approval: id } },
  );
}

function found(record: ApprovalRecord | undefined, id: string): ApprovalRecord {
  if (record === undefined) throw new AppError('not_found', `There is no question "${id}".`, { fix: '`writ approvals list` shows them.' });
  return record;
}

function withHosts({ card }: ApprovalRecord, names: readonly string[]): ApprovalRecord['card']['opens'] {
  const hosts = names.map((name) => name.trim()).filter((name) => name !== '');
  if (!card.opens.some(({ type }) => type === 'hosts'))
    throw new AppError('invalid_arguments', '--hosts: this question is not about the network.');
  return card.opens.map((opening) => (opening.type === 'hosts' ? { type: 'hosts', hosts, presets: [] } : opening));
}

function stateOf(word: string | undefined): ApprovalState | undefined {
  if (word === undefined) return undefined;
  const state = APPROVAL_STATES.find((one) => one === word);
  if (state === undefined) throw new AppError('invalid_arguments', `--state must be one of ${APPROVAL_STATES.join(', ')}.`);
  return state;
}

async function atTheKeyboard(
  app: () => Promise<App>,
  terminal: Terminal,
  use: (parts: AnswerParts, asking: AskingPort) => Promise<void>,
): Promise<void> {
  const keyboard = await terminal.keyboard?.();
  if (keyboard?.isTerminal !== true) {
    throw new AppError('denied_by_policy', 'Questions are answered by a person at a terminal, and this is none.', {
      fix: 'Run it in a terminal window of your own, without pipes.',
    });
  }
  try {
    await withAsking(app, async (asking, { clock }) => {
      const { approvals, grants, operator } = asking;
      const by = { channel: 'terminal', who: operator } as const;
      await use({ approvals, grants, keyboard, terminal, by, now: () => clock.now(), remember_ms: 0 }, asking);
    });
  } finally {
    keyboard.close();
  }
}
