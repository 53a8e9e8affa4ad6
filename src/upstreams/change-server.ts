import type { SealedStore } from '../identity/index.ts';
import type { Entry, ServerChange } from '../kernel/config/edit-servers.ts';
import type { WrittenServers } from '../kernel/config/write-servers.ts';
import { AppError } from '../kernel/errors.ts';
import { storeSecrets } from './add-server.ts';
import type { SettingsRead } from './settings/read-settings.ts';
import type { UpstreamSettings } from './types.ts';

export interface ChangeServerParts {
  readonly secrets: SealedStore;
  check(name: string, entry: Entry): SettingsRead;
  write(changes: readonly ServerChange[]): Promise<WrittenServers>;
}

export type ServerChanged =
  | { readonly type: 'written'; readonly written: WrittenServers; readonly settings: UpstreamSettings }
  | { readonly type: 'invalid'; readonly problems: Extract<SettingsRead, { ok: false }>['problems'] };

/**
 * Changes what stands in the file just then, whoever wrote it; what would be no good is not written, and none of its `secrets` kept.
 * AppError not_found where it is gone.
 */
export async function changeServer(
  name: string,
  edit: (entry: Entry) => Entry,
  secrets: Readonly<Record<string, string>>,
  parts: ChangeServerParts,
): Promise<ServerChanged> {
  const made: { read?: SettingsRead } = {};
  const entry = (now: Entry | undefined): Entry => {
    if (now === undefined) throw new AppError('not_found', `The MCP server "${name}" is not in the configuration any more.`);
    const next = edit(now);
    made.read = parts.check(name, next);
    if (!made.read.ok) throw new AppError('config_invalid', `The entry of "${name}" would be no good.`);
    return next;
  };
  const forget = storeSecrets(secrets, parts.secrets);
  try {
    const written = await parts.write([{ name, entry }]);
    if (made.read?.ok !== true) throw new AppError('internal', `The entry of "${name}" was written without having been looked at.`);
    return { type: 'written', written, settings: made.read.settings };
  } catch (thrown) {
    forget();
    if (made.read?.ok === false) return { type: 'invalid', problems: made.read.problems };
    throw thrown;
  }
}
