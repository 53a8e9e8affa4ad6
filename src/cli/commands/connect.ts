import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Terminal } from '../app.ts';
import { connectText, HOSTS } from '../connect.ts';

interface ConnectFlags {
  readonly http?: boolean;
  readonly token: string;
  readonly workspace?: string;
}

async function overHttp(parts: App, { token, workspace }: ConnectFlags, host: string | undefined): Promise<string | undefined> {
  const [{ connectHttpText }, { tokenFile }, { url }] = await Promise.all([
    import('../connect-http.ts'),
    import('../token-file.ts'),
    parts.server(),
  ]);
  const endpoint = workspace === undefined ? `${url}/mcp` : `${url}/mcp/w/${workspace}`;
  return connectHttpText({ url: endpoint, file: tokenFile(parts.home(), token) }, host);
}

export function connectCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('connect')
    .description('print the configuration that makes a coding agent start `writ mcp`, or connect to `writ up`')
    .argument('[host]', HOSTS.map((host) => host.name).join(', '))
    .option('--http', 'for an agent that connects to `writ up` with a token, which stays in its file')
    .option('--token <name>', 'with --http: the token', 'NAME')
    .option('--workspace <name>', 'with --http: only this workspace of the token')
    .action(async (host: string | undefined, options: ConnectFlags) => {
      const parts = await app();
      const text = options.http ? await overHttp(parts, options, host) : connectText([...parts.self, 'mcp'], host);
      if (text === undefined)
        throw new AppError('invalid_arguments', `No configuration is known for "${host}".`, {
          fix: `Known: ${HOSTS.map((each) => each.name).join(', ')}.`,
        });
      terminal.out(`${text}\n`);
    });
}
