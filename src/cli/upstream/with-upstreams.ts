import { AppError } from '../../kernel/errors.ts';
import type { ListedUpstream, UpstreamSettings } from '../../upstreams/index.ts';
import type { App, ConfiguredServer, Terminal, UpstreamsPort } from '../app.ts';
import type { Keyboard } from '../keyboard.ts';

/** Uses the MCP servers of the configuration and closes what that opened. */
export async function withUpstreams(app: () => Promise<App>, use: (port: UpstreamsPort) => Promise<void>): Promise<void> {
  const parts = await app();
  const port = await parts.upstreams();
  try {
    await use(port);
  } finally {
    await port.close();
    await (await parts.audit()).close();
  }
}

/** The same for what only a person may do, in a terminal that no agent's host has opened. */
export async function atTheKeyboard(
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

export function configured({ servers }: UpstreamsPort, name: string): ConfiguredServer {
  const found = servers.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = servers.map((each) => each.name).join(', ') || 'none';
  throw new AppError('not_found', `No MCP server ${JSON.stringify(name.slice(0, 80))} is configured here; there are: ${known}.`, {
    fix: 'Those of a project are seen in its folder.',
  });
}

/** One that can be used. */
export function named(port: UpstreamsPort, name: string): UpstreamSettings {
  const { read } = configured(port, name);
  if (read.ok) return read.settings;
  throw wrong(read.problems);
}

export function wrong(problems: readonly { readonly message: string; readonly fix?: string }[]): AppError {
  const fixes = problems.flatMap(({ fix }) => (fix === undefined ? [] : [fix]));
  return new AppError(
    'config_invalid',
    `${problems.map(({ message }) => message).join('; ')}.`,
    fixes.length === 0 ? {} : { fix: fixes.join(' ') },
  );
}

/** Who changes a project's servers is the project: its file isn't the operator's to write. */
export function ofOperator(port: UpstreamsPort, name: string): ConfiguredServer {
  const found = configured(port, name);
  if (found.source === 'operator') return found;
  throw new AppError('invalid_arguments', `"${name}" stands in the file of this project, which Writ doesn't write.`, {
    fix: `\`writ upstream deny ${name}\` keeps it out here.`,
  });
}

export async function recorded(approvals: UpstreamsPort['approvals']): Promise<readonly ListedUpstream[]> {
  const listed = await approvals.list();
  if (listed.ok) return listed.upstreams;
  throw new AppError('store_unavailable', listed.problem, { fix: listed.fix });
}
