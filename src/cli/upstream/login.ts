import type { Command } from 'commander';
import type { App, LoginPort, Terminal } from '../app.ts';
import { named, withUpstreams } from './with-upstreams.ts';

/** Logins to remote servers. */
export function loginCommands(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('login')
    .description('log in to a remote server with a browser, of this machine or of another one')
    .argument('<name>')
    .option('--answer <address>', 'end a login that was begun before: what the browser ended at')
    .action(async (name: string, options: { answer?: string }) => {
      await withUpstreams(app, async (port) => {
        const settings = named(port, name);
        if (options.answer !== undefined) await port.answerLogin(settings, options.answer);
        else await withBrowser(await port.login(settings), terminal);
        terminal.out(`Logged in to ${name}.\n`);
      });
    });

  upstream
    .command('logout')
    .description('forget the login to a remote server, and tell its issuer')
    .argument('<name>')
    .action(async (name: string) => {
      await withUpstreams(app, async (port) => {
        const { was, revoked } = await port.logout(named(port, name));
        terminal.out(was ? `Logged out of ${name}${revoked ? '' : '; its issuer was not told'}.\n` : 'There was no login.\n');
      });
    });
}

/** Whichever comes first: the browser, or an address that is pasted. */
async function withBrowser(login: LoginPort, terminal: Terminal): Promise<void> {
  try {
    terminal.out(`Open this address in a browser and agree there:\n\n  ${login.address}\n\n`);
    const keyboard = terminal.interactive === true ? await terminal.keyboard?.() : undefined;
    if (keyboard?.isTerminal !== true) {
      terminal.out(`Waiting for the browser to come back to ${login.redirect_uri} (a browser of another machine: --answer).\n`);
      return await login.finished();
    }
    const pasted = async (): Promise<void> => {
      const line = await keyboard.line('Waiting. Is the browser on another machine? Paste the address it ended at: ');
      // Without a line the browser alone can end it.
      await (line === undefined || line.trim() === '' ? login.finished() : login.answer(line));
    };
    await Promise.race([login.finished(), pasted()]).finally(() => keyboard.close());
  } finally {
    login.close();
  }
}
