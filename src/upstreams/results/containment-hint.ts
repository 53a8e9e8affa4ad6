import type { UpstreamSettings } from '../types.ts';

const READ_ONLY = /\bEROFS\b|read-only file system/i;
/** A path that a program names where it found nothing: in quotes, as Node and Python write it. */
const NOT_THERE = /(?:\bENOENT\b|no such file or directory)[^'"\n]*['"](\/[^'"\n]+)['"]/i;
const NO_NETWORK =
  /\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b|network is unreachable|temporary failure in name resolution|could not resolve host/i;

/** Why a contained server may have failed, where it looks like its containment: whoever reads its error would look for the cause elsewhere. */
export function containmentHint(
  { name, transport, network, roots }: Pick<UpstreamSettings, 'name' | 'transport' | 'network' | 'roots'>,
  error: string,
): string | undefined {
  if (transport.type !== 'stdio') return undefined;
  if (READ_ONLY.test(error)) {
    return `[writ: the MCP server "${name}" can write to its private HOME, to /tmp and to the folders that its entry gives for writing ("roots"), and nowhere else. If it keeps something beside its own program, a variable of it ("env") may name another place.]`;
  }
  const missing = NOT_THERE.exec(error)?.[1];
  if (
    missing !== undefined &&
    ![...roots.map(({ path }) => path), '/tmp'].some((path) => missing === path || missing.startsWith(`${path}/`))
  ) {
    return `[writ: the MCP server "${name}" sees a private HOME, /tmp, system folders and the folders that its entry gives ("roots"). ${JSON.stringify(missing)} is in none of the last, so it may be there without being seen.]`;
  }
  if (network !== 'full' && NO_NETWORK.test(error)) {
    return `[writ: the MCP server "${name}" ${network === 'none' ? 'has no network' : 'reaches only the hosts that are named for it'} ("network" of its entry).]`;
  }
  return undefined;
}
