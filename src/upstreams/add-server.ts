import type { SealedStore } from '../identity/index.ts';
import type { ServerChange } from '../kernel/config/edit-servers.ts';
import type { WrittenServers } from '../kernel/config/write-servers.ts';
import { AppError } from '../kernel/errors.ts';
import type { Installed } from './install/index.ts';
import type { UpstreamSettings, UpstreamStatus, UpstreamTool } from './types.ts';

/** A server that was started once to be looked at. */
export interface LookedAt {
  readonly status: UpstreamStatus;
  readonly tools: readonly UpstreamTool[];
  /** What it wrote on standard error. */
  readonly log: readonly string[];
}

export interface ServerToAdd {
  readonly settings: UpstreamSettings;
  /** As it is to stand in the file. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** By the names that the entry refers to them by. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Nothing is written where it can't be had. */
  readonly connect: boolean;
  /** False: AppError backend_changed where one of that name is there by the time that it is written. */
  readonly replace: boolean;
}

export interface AddServerParts {
  readonly secrets: SealedStore;
  /** Before it is connected: whoever adds a server lets its package be installed. */
  install(settings: UpstreamSettings): Promise<Installed>;
  look(settings: UpstreamSettings): Promise<LookedAt>;
  write(changes: readonly ServerChange[]): Promise<WrittenServers>;
  /** What came of the look, before anything is written. */
  looked?(looked: LookedAt): void;
}

export type Added =
  | { readonly type: 'written'; readonly written: WrittenServers; readonly looked?: LookedAt }
  | { readonly type: 'not_connected'; readonly looked: LookedAt };

/** A checked entry goes into the configuration once it was connected. Of one that doesn't get there nothing stays, no secret either. */
export async function addServer({ settings, entry, secrets, connect, replace }: ServerToAdd, parts: AddServerParts): Promise<Added> {
  const forget = storeSecrets(secrets, parts.secrets);
  let installed: Installed = { type: 'none' };
  const undo = async (): Promise<void> => {
    forget();
    if (installed.type === 'installed') await installed.undo();
  };
  try {
    if (connect && settings.enabled) installed = await parts.install(settings);
    const looked = connect && settings.enabled ? await parts.look(settings) : undefined;
    if (looked !== undefined) parts.looked?.(looked);
    if (looked !== undefined && !mayBeWritten(settings, looked.status.state)) {
      await undo();
      return { type: 'not_connected', looked };
    }
    const { name } = settings;
    const place = (now: unknown): ServerToAdd['entry'] => {
      // Connecting took a while.
      if (now !== undefined && !replace) throw new AppError('backend_changed', `Somebody else has added "${name}" meanwhile.`);
      return entry;
    };
    const written = await parts.write([{ name, entry: place }]);
    return { type: 'written', written, ...(looked === undefined ? {} : { looked }) };
  } catch (thrown) {
    await undo();
    throw thrown;
  }
}

/** A person can log in only once it is configured. */
function mayBeWritten({ transport }: UpstreamSettings, state: string): boolean {
  return state === 'connected' || (state === 'needs_auth' && transport.type !== 'stdio');
}

/** Keeps them; the function it gives puts back what was there under those names, for when nothing comes of it. */
export function storeSecrets(values: Readonly<Record<string, string>>, secrets: SealedStore): () => void {
  const before = Object.keys(values).map((name) => ({ name, was: secrets.get(name) }));
  for (const [name, value] of Object.entries(values)) secrets.set(name, value);
  return () => {
    for (const { name, was } of before) {
      if (was.state === 'value') secrets.set(name, was.value);
      else secrets.remove(name);
    }
  };
}
