import type { SealedStore } from '../identity/index.ts';
import type { ServerChange } from '../kernel/config/edit-servers.ts';
import type { WrittenServers } from '../kernel/config/write-servers.ts';
import type { UpstreamKey } from './approvals/records.ts';
import type { UpstreamApprovals } from './approvals/types.ts';

export interface RemoveServerParts {
  readonly approvals: Pick<UpstreamApprovals, 'revoke'>;
  readonly secrets: Pick<SealedStore, 'list'>;
  /** Who does it. */
  readonly operator: string;
  write(changes: readonly ServerChange[]): Promise<WrittenServers>;
  uninstall(key: UpstreamKey): Promise<boolean>;
}

export interface Removed {
  readonly written: WrittenServers;
  /** People had answered about it. */
  readonly forgotten: boolean;
  /** Names of its secrets: they stay, since a person may have nothing else that holds them. */
  readonly secrets_kept: readonly string[];
}

/** Takes a server of the operator out of the configuration, with what was approved of it and what was installed for it. */
export async function removeServer(name: string, parts: RemoveServerParts): Promise<Removed> {
  const key = { name, project: null };
  const written = await parts.write([{ name, entry: undefined }]);
  const forgotten = await parts.approvals.revoke(key, parts.operator);
  await parts.uninstall(key);
  return { written, forgotten, secrets_kept: parts.secrets.list().filter((secret) => secret.startsWith(`${name}.`)) };
}
