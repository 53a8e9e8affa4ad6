import type { Command } from 'commander';
import type { App, Terminal } from '../app.ts';

export function demoCommand(program: Command, app: () => Promise<App>, terminal: Terminal): void {
  program
    .command('demo')
    .description('prove containment, run one command through an MCP server of its own, and print how to connect an agent')
    .action(async () => {
      const [parts, { renderProbe }, { connectText }] = await Promise.all([app(), import('../doctor.ts'), import('../connect.ts')]);
      const execution = await parts.execution();
      const probe = await execution.probe({ fresh: true });
      terminal.out(`${renderProbe(probe)}\n\n`);
      if (probe.ok) terminal.out(`${await parts.demonstrate()}\n\n`);
      terminal.out(`Connect your agent (it starts the server itself):\n\n${connectText([...parts.self, 'mcp']) ?? ''}\n\n`);
      terminal.out("An agent's own shell, if it has one, is outside Writ: turn it off there so that commands come through this door.\n");
      await execution.close();
      if (!probe.ok) terminal.exit(12);
    });
}
