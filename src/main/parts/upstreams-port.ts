import { actsForSomeAgent } from '../../approvals/index.ts';
import type { UpstreamsPort } from '../../cli/index.ts';
import type { Execution } from '../../execution/index.ts';
import type { Config } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Gateway } from './gateway.ts';

export interface UpstreamsPortParts {
  readonly gateway: Gateway;
  readonly config: Config;
  readonly project: string | undefined;
  readonly operator: string;
  execution(): Promise<Execution>;
}

/** The MCP servers of the configuration for the commands of a person. */
export function openUpstreams({ gateway, config, project, operator, execution }: UpstreamsPortParts): UpstreamsPort {
  const settings = gateway.settingsOf(config, project);
  let started = false;
  return {
    settings,
    approvals: gateway.approvals,
    operator,
    actsForAgent: () =>
      actsForSomeAgent(process.pid, ([, script = '', command]) => command === 'mcp' && /(^|\/)(writ(\.mjs)?|cli\.[jt]s)$/.test(script)),
    async look(name) {
      const one = settings.find((each) => each.name === name);
      if (one === undefined) throw new AppError('not_found', `No MCP server "${name}" is configured here.`);
      started = true;
      const view = gateway.pool.view([one]);
      const upstream = view.get(name);
      if (upstream === undefined) throw new AppError('internal', 'A server that was just configured is gone.');
      await upstream.tried();
      const looked = { status: upstream.status(), tools: upstream.tools(), log: gateway.logs(name) };
      await view.close();
      return looked;
    },
    async close() {
      await gateway.close();
      if (started) await (await execution()).close();
    },
  };
}
