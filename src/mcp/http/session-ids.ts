import { isObject, type Members } from '../../kernel/json-rpc/message.ts';
import { clientFacts, type Hello } from '../peer.ts';
import { featuresOf, isRevision } from '../revisions.ts';
import type { ClientFacts, HttpCaller, Signer } from '../types.ts';

/**
 * A session id says by itself what the session began with, signed: a client keeps using it after we were restarted, and the session is there
 * again. It is no credential: it opens nothing without the agent's own, and only at the endpoint where it began.
 */

/** Of what a client declares, what we ever look at: all that is kept where it declares more than fits a header. */
const CAPABILITIES = ['elicitation', 'roots', 'sampling'];
const MAX_CAPABILITIES_BYTES = 1024;
const MAX_FACT = 60;
const MAX_ID = 4096;

export function sessionIdFor(run: string, hello: Hello, caller: HttpCaller, signer: Signer): string {
  const { revision, client, capabilities } = hello;
  const payload = Buffer.from(JSON.stringify([run, revision, cut(client), reduced(capabilities)])).toString('base64url');
  return `${payload}.${signer.sign(signed(payload, caller))}`;
}

/** What `id` began with; undefined where it isn't ours, or another agent's or endpoint's. */
export function readSessionId(id: string, caller: HttpCaller, signer: Signer): { run: string; hello: Hello } | undefined {
  const dot = id.lastIndexOf('.');
  const payload = id.slice(0, dot);
  if (id.length > MAX_ID || dot < 1 || !signer.verify(signed(payload, caller), id.slice(dot + 1))) return undefined;
  const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  if (!Array.isArray(value)) return undefined;
  const [run, revision, client, capabilities] = value as unknown[];
  if (typeof run !== 'string' || typeof revision !== 'string' || !isObject(capabilities)) return undefined;
  // Signed by an older Writ that spoke what this one doesn't.
  if (!isRevision(revision) || featuresOf(revision).era !== 'handshake') return undefined;
  return { run, hello: { revision, client: clientFacts(client), capabilities } };
}

function signed(payload: string, { agent, endpoint }: HttpCaller): string {
  return JSON.stringify(['mcp-session', agent, endpoint, payload]);
}

function cut(client: ClientFacts | undefined): Members | null {
  if (client === undefined) return null;
  return Object.fromEntries(Object.entries(client).map(([name, value]) => [name, String(value).slice(0, MAX_FACT).toWellFormed()]));
}

function reduced(capabilities: Members): Members {
  if (Buffer.byteLength(JSON.stringify(capabilities)) <= MAX_CAPABILITIES_BYTES) return capabilities;
  return Object.fromEntries(CAPABILITIES.filter((name) => isObject(capabilities[name])).map((name) => [name, {}]));
}
