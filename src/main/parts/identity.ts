import { createIdentity, type Identity, type IdentityParts, resolveToolset } from '../../identity/index.ts';
import type { Config } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';

/** Agents, tokens, Workspaces of this Writ home. */
export function openIdentity({ store, reader, clock, logger, facts, home }: IdentityParts): Identity {
  return createIdentity({ store, reader, clock, logger, facts, home });
}

/** AppError config_invalid for a toolset that nobody configured. */
export function checkToolset(name: string, config: Config): void {
  const resolved = resolveToolset(name, config);
  if (!resolved.ok) throw new AppError('config_invalid', resolved.message, { fix: resolved.fix });
}
