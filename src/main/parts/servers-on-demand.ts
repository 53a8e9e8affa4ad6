import type { ServersOnDemand } from '../../http/index.ts';
import { loadConfig } from '../../kernel/config/index.ts';
import { once } from './once.ts';
import type { OperatorServersParts } from './operator-servers.ts';

export function createServersOnDemand(parts: OperatorServersParts): ServersOnDemand {
  const whole = once(async () => (await import('./operator-servers.ts')).createOperatorServers(parts));
  const { facts, home, flags = [], live } = parts;

  async function none(): Promise<boolean> {
    if (live.all().length > 0) return false;
    const loaded = await loadConfig(facts, { home, flags });
    return loaded.ok && Object.keys(loaded.config.mcp_servers).length === 0;
  }

  return { whole, list: async () => ((await none()) ? { servers: [] } : (await whole()).list()) };
}
