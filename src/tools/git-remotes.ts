import { dirname, join, resolve } from 'node:path';
import type { Assessment, Finding } from '../policy/types.ts';
import { readSmall } from './read-small.ts';

/** The preset by which policy names the hosts of a repository it can't look into. */
const GIT = 'git';
/** More remotes than a card can show are not opened: then the preset stays what it is. */
const MAX_HOSTS = 8;

/**
 * `git push` names no host: what it reaches stands in the repository's configuration, which the assessor can't read. A person is shown those
 * hosts, and a yes opens them, in place of "the hosts of git". Whoever wrote the configuration chose the host; that is why it is shown.
 */
export function withRemotes(assessment: Assessment, cwd: string): Assessment {
  if (!assessment.findings.some(needsRemotes)) return assessment;
  const hosts = remoteHosts(cwd);
  if (hosts.length === 0 || hosts.length > MAX_HOSTS) return assessment;
  const named = (finding: Finding): Finding => {
    if (!needsRemotes(finding)) return finding;
    return { ...finding, opens: { type: 'hosts', hosts, presets: finding.opens.presets.filter((preset) => preset !== GIT) } };
  };
  return { ...assessment, findings: assessment.findings.map(named) };
}

function needsRemotes(finding: Finding): finding is Finding & { opens: Extract<NonNullable<Finding['opens']>, { type: 'hosts' }> } {
  const { opens, argv } = finding;
  return opens?.type === 'hosts' && opens.hosts.length === 0 && opens.presets.includes(GIT) && /(^|\/)git$/.test(argv[0] ?? '');
}

/** Hosts of all remotes of the repository that holds this folder, each once. */
function remoteHosts(cwd: string): readonly string[] {
  const config = configOf(cwd);
  const hosts = new Set<string>();
  let inRemote = false;
  for (const line of config?.split('\n') ?? []) {
    const section = /^\s*\[\s*([A-Za-z0-9.-]+)/.exec(line)?.[1];
    if (section !== undefined) inRemote = section.toLowerCase() === 'remote';
    const url = inRemote ? /^\s*(?:push)?url\s*=\s*"?([^"\s]+)/i.exec(line)?.[1] : undefined;
    const host = url === undefined ? undefined : hostOf(url);
    if (host !== undefined) hosts.add(host);
  }
  return [...hosts];
}

function hostOf(url: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    const parsed = URL.parse(url);
    const usual = parsed === null || ['', '80', '443', '22'].includes(parsed.port);
    return parsed === null || parsed.hostname === '' ? undefined : usual ? parsed.hostname : `${parsed.hostname}:${parsed.port}`;
  }
  // `user@host:path`; a single letter would be a drive, a slash before the colon a path.
  return /^(?:[^@/\s]+@)?([A-Za-z0-9][A-Za-z0-9.-]+):(?!\/\/)/.exec(url)?.[1]?.toLowerCase();
}

/** A linked work tree or a submodule has a file in place of the folder, which names another. */
function configOf(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const inside = readSmall(join(folder, '.git', 'config'));
    if (inside !== undefined) return inside;
    const pointer = /^gitdir:\s*(.+?)\s*$/m.exec(readSmall(join(folder, '.git')) ?? '')?.[1];
    if (pointer !== undefined) {
      const git = resolve(folder, pointer);
      const common = readSmall(join(git, 'commondir'))?.trim();
      return readSmall(join(common === undefined ? git : resolve(git, common), 'config'));
    }
    if (folder === dirname(folder)) return undefined;
  }
}
