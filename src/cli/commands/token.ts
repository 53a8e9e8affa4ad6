import type { Command } from 'commander';
import type { AgentToken } from '../../identity/types.ts';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { recordOperator } from '../record-operator.ts';
import { collect } from '../repeatable.ts';
import { parseLife } from '../since.ts';

interface CreateFlags {
  readonly workspace: readonly string[];
  readonly toolset: string;
  readonly expires?: string;
  readonly attended?: boolean;
  readonly show?: boolean;
  readonly json?: boolean;
}

const MAX_DAYS = 3_650;

export function tokenCommands(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  const token = program.command('token').description("agents' credentials for /mcp of `writ up`, and for nothing else");

  token
    .command('create')
    .description('make one and write it to ~/.writ/tokens/NAME, which only you can read')
    .argument('<name>', 'the agent is agent_NAME')
    .option('-w, --workspace <name>', 'a workspace it may work in; repeatable, the first is where it starts', collect, [])
    .option('--toolset <name>', 'which tools it sees', 'default')
    .option('--expires <time>', 'how long it is good for, such as 12h or 30d; without it until it is revoked')
    .option('--attended', 'a person sits at its client and is asked there; otherwise questions go to your page and terminal only')
    .option('--show', 'print the token itself too; only to a terminal')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: CreateFlags) => {
      if (options.show && !terminal.interactive) {
        throw new AppError('invalid_arguments', 'A token is never printed into a pipe or a file.', {
          fix: 'Leave --show out and read it where the output says it lies.',
        });
      }
      const [parts, { removeToken, writeToken }] = await Promise.all([app(), import('../token-file.ts')]);
      const expires_at =
        options.expires === undefined ? {} : { expires_at: parts.clock.now() + parseLife('--expires', options.expires, MAX_DAYS) };
      await parts.checkToolset(options.toolset);
      const identity = await parts.identity();
      const { token: made, secret } = await identity.tokens.create({
        name,
        workspaces: options.workspace,
        toolset: options.toolset,
        attended: options.attended === true,
        ...expires_at,
      });
      let file: string;
      try {
        file = writeToken(parts.home(), name, secret);
      } catch (thrown) {
        // Nobody could ever show it.
        await identity.tokens.revoke(name);
        removeToken(parts.home(), name);
        throw thrown;
      }
      const { workspaces, toolset, attended } = made;
      await recordOperator(parts, {
        type: 'token.created',
        agent: made.agent,
        data: { name, workspaces, toolset, attended, ...expires_at },
      });
      terminal.out(options.json ? `${JSON.stringify({ ...made, file })}\n` : `${created(made, file)}\n`);
      if (options.show) terminal.out(`${secret}\n`);
    });

  token
    .command('list')
    .description('newest first')
    .option('--json', 'machine-readable output')
    .action(async (options: { json?: boolean }) => {
      const parts = await app();
      const all = await (await parts.identity()).tokens.list();
      await (await parts.audit()).close();
      const now = parts.clock.now();
      if (options.json) terminal.out(`${JSON.stringify(all)}\n`);
      else terminal.out(all.length === 0 ? 'No tokens.\n' : `${all.map((each) => line(each, now)).join('\n')}\n`);
    });

  token
    .command('revoke')
    .description('end it now: what runs for it is cancelled within a second')
    .argument('<name>')
    .action(async (name: string) => {
      const [parts, { removeToken }] = await Promise.all([app(), import('../token-file.ts')]);
      const revoked = await (await parts.identity()).tokens.revoke(name);
      if (revoked === undefined) {
        await (await parts.audit()).close();
        throw new AppError('not_found', `No token "${name.slice(0, 80)}" is in force.`, { fix: '`writ token list` shows them.' });
      }
      removeToken(parts.home(), revoked.name);
      await recordOperator(parts, { type: 'token.revoked', agent: revoked.agent, data: { name: revoked.name } });
      terminal.out(`${revoked.name} is revoked, and its file removed\n`);
    });
}

function created(token: AgentToken, file: string): string {
  const where = token.workspaces.length === 0 ? 'no workspace: commands are refused' : `in ${token.workspaces.join(', ')}`;
  return `${token.name} acts as ${token.agent}, ${where}\nIts token is in ${file}; \`writ connect HOST --http\` shows how an agent reads it from there.`;
}

function line({ name, workspaces, toolset, attended, expires_at, revoked_at, used_at }: AgentToken, now: number): string {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 16);
  const state =
    revoked_at !== undefined
      ? `revoked ${day(revoked_at)}`
      : expires_at === undefined
        ? 'until revoked'
        : expires_at <= now
          ? `expired ${day(expires_at)}`
          : `until ${day(expires_at)}`;
  return `${name}  ${workspaces.join(',') || '-'}  ${toolset}${attended ? '  attended' : ''}  ${state}  ${used_at === undefined ? 'never used' : `used ${day(used_at)}`}`;
}
