import type { Command } from 'commander';
import { AppError } from '../../kernel/errors.ts';
import type { App, Settings, Terminal } from '../app.ts';
import { sandboxOption, sandboxSettings } from '../sandbox-flag.ts';
import { STRICT } from './mcp.ts';

interface UpFlags {
  readonly host?: string;
  readonly port?: string;
  readonly sandbox?: string | true;
  readonly demonstrate?: boolean;
  readonly upstreams: boolean;
  readonly strict?: boolean;
}

export function upCommand(program: Command, app: (settings?: Settings) => Promise<App>, terminal: Terminal): void {
  sandboxOption(program.command('up'))
    .description('serve agents over HTTP, the `writ mcp` of this user through it, and a page where you see and decide')
    .option('--port <port>', 'default: server.port of the configuration, 7420')
    .option('--host <address>', 'address to listen on; default: server.host of the configuration, 127.0.0.1')
    .option('--no-upstreams', 'leave the MCP servers of the configuration out (or WRIT_DISABLE_MCP=1)')
    .option('--strict', STRICT)
    .option('--demonstrate', 'prove containment and run one command through it first')
    .action(async (options: UpFlags) => {
      const parts = await app(sandboxSettings(options));
      const ending = parts.untilSignal();
      const up = await parts.up({
        upstreams: options.upstreams,
        strict: options.strict === true,
        ...(options.host === undefined ? {} : { host: options.host }),
        ...(options.port === undefined ? {} : { port: portOf(options.port) }),
      });
      if (options.demonstrate) {
        const [{ renderProbe }, { connectText }] = await Promise.all([import('../doctor.ts'), import('../connect.ts')]);
        const probe = await up.probe();
        terminal.out(`${renderProbe(probe)}\n\n`);
        if (probe.ok) terminal.out(`${await up.demonstrate()}\n\n`);
        terminal.out(
          `Connect your agent (it starts its own side, which finds this server):\n\n${connectText([...parts.self, 'mcp']) ?? ''}\n\n`,
        );
        terminal.out(
          "An agent's own shell, if it has one, is outside Writ: turn it off there so that commands come through this door.\n\n",
        );
      }
      terminal.out(
        `Writ is up at ${up.url}\n  agents over HTTP   ${up.url}/mcp  (writ workspace add, writ token create, writ connect HOST --http)\n  your page          ${await up.link()}\n                     opens once, within 10 minutes; \`writ link\` makes another\nCtrl-C ends it; jobs go on.\n`,
      );
      await ending;
      terminal.err('writ: ending; foreground calls are cancelled, jobs go on\n');
      await up.close();
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new AppError('invalid_arguments', '--port must be a number from 1 to 65535, or 0 for any that is free.');
}
