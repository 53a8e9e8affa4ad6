import { isSecretName, type Redactor } from '../../kernel/redaction/index.ts';
import type { JsonObject, UpstreamSettings } from '../types.ts';

export interface Concealing {
  /** Keyed with the home's key: a short secret can't be guessed from its digest. */
  readonly signer: { sign(text: string): string };
  readonly redactor: Pick<Redactor, 'text'>;
}

/**
 * Settings that change nothing about what runs, what it may do and what it may cost. All others count, those that don't exist yet too.
 * Tools that are switched on again need their own approval.
 */
const OUTSIDE = new Set(['name', 'source', 'project', 'enabled', 'disabled_tools', 'connect_timeout_ms', 'concurrency', 'idle_stop_ms']);

/** Nothing but a reference: it holds no secret itself. */
const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_:]*\}$/;

/**
 * What a person approves of an upstream: its settings as they stand in the file, with secrets replaced by keyed digests, so that the
 * record is readable and a changed secret is still a change. `version`: of the installed package, where it is known.
 */
export function serverIdentity(settings: UpstreamSettings, version: string | undefined, concealing: Concealing): JsonObject {
  const rest = Object.fromEntries(Object.entries(settings).filter(([name]) => !OUTSIDE.has(name)));
  return { ...concealed(rest, undefined, concealing), ...(version === undefined ? {} : { version }) };
}

/** Only what runs or is reached: tools that were approved one by one ask again when this changes, and not when a limit does. */
export function backendIdentity(settings: UpstreamSettings, version: string | undefined, concealing: Concealing): JsonObject {
  const { transport } = settings;
  return { transport: concealed(transport, undefined, concealing), ...(version === undefined ? {} : { version }) };
}

function concealed(value: object, name: string | undefined, concealing: Concealing): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, conceal(inner, Array.isArray(value) ? name : key, concealing)]),
  );
}

function conceal(value: unknown, name: string | undefined, concealing: Concealing): unknown {
  if (typeof value === 'string')
    return isSecret(value, name, concealing) ? { secret: concealing.signer.sign(`upstream-identity\0${value}`) } : value;
  if (Array.isArray(value)) return value.map((item) => conceal(item, name, concealing));
  return typeof value === 'object' && value !== null ? concealed(value, name, concealing) : value;
}

function isSecret(value: string, name: string | undefined, { redactor }: Concealing): boolean {
  if (value === '' || REFERENCE.test(value)) return false;
  return (name !== undefined && isSecretName(name)) || redactor.text(value) !== value;
}
