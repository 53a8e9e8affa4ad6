import { isObject, type Members } from '../kernel/json-rpc/message.ts';
import { type Features, featuresOf } from './revisions.ts';
import type { Peer } from './types.ts';

/**
 * Clients that hand `structuredContent` to their model as JSON, in place of the text (Claude Code, Codex) or beside it (qwen-code). The text
 * says the same in a quarter of the words and says how to go on, so they get the text alone. What each does is seen by `npm run test:hosts` and
 * kept in docs/reference/hosts.md. A client that lies about its name changes how its own answers look, and nothing else.
 */
const TEXT_IS_BETTER = /^(claude-code|codex-mcp-client|qwen-cli-mcp-client-.*)$/;

/**
 * On every tool: Claude Code hides the tools of servers behind a search unless they ask to be there from the start, and a model that sees only the
 * host's own shell uses that one.
 */
export const TOOL_META = { 'anthropic/alwaysLoad': true };

/**
 * How long a call may wait for the person at its client without making the client give up first. Claude Code and the others of
 * docs/reference/hosts.md wait for as long as a question lives; Codex stops its clock while its own person is asked. What is built on the SDK and sets
 * nothing gives up after 60 s.
 */
const PATIENT = /^(claude-code|codex-mcp-client|gemini-cli-mcp-client|qwen-cli-mcp-client-.*)$/;
const PATIENT_MS = 9 * 60_000;
const HOLD_MS = 45_000;

export function holdOf(peer: Peer): number {
  return PATIENT.test(peer.client?.name ?? '') ? PATIENT_MS : HOLD_MS;
}

/**
 * A host that runs without a person declares that it can ask one all the same, and then says no by itself. `claude -p` tells the programs that
 * it starts what it is.
 */
export function startedUnattended(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['CLAUDE_CODE_ENTRYPOINT'] === 'sdk-cli';
}

/** `codex exec` says it with every call (`user` where a person typed something). */
export function saysUnattended({ _meta: meta }: Members): boolean {
  const turn = isObject(meta) ? meta['x-codex-turn-metadata'] : undefined;
  return isObject(turn) && turn['turn_trigger'] === 'exec';
}

/** What a revision allows, less what the host at the other end makes bad use of. */
export function featuresFor(peer: Peer): Features {
  const features = featuresOf(peer.revision);
  return TEXT_IS_BETTER.test(peer.client?.name ?? '') ? { ...features, structured: false } : features;
}
