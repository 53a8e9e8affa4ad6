import type { UpstreamsPort } from '../../cli/index.ts';
import type { ServerDetail, ServerRow } from '../../http/index.ts';
import {
  differenceLines,
  keyOf,
  type ListedUpstream,
  type Upstream,
  type UpstreamKey,
  type UpstreamSettings,
} from '../../upstreams/index.ts';
import type { LiveUpstreams } from './live-upstreams.ts';
import { toolRows } from './server-tool-rows.ts';

/** What is looked at for it: the configuration with its approvals and packages. */
export type RowsPort = Pick<UpstreamsPort, 'servers' | 'approvals' | 'mask' | 'packageOf'>;
type Live = Pick<LiveUpstreams, 'find'>;

/** A server of the configuration: as it is in this process, else as it would be. */
export async function rowOf(from: RowsPort, { name, source, read }: RowsPort['servers'][number], live: Live): Promise<ServerRow> {
  const about = { name, source, waiting: 0, problems: read.ok ? [] : read.problems, warnings: read.warnings };
  if (!read.ok) return { ...about, state: 'invalid', enabled: false, reason: read.problems.map(({ message }) => message).join('; ') };
  const { settings } = read;
  const more = { ...about, enabled: settings.enabled, transport: settings.transport.type, settings: from.mask(settings) };
  const upstream = live.find(keyOf(settings));
  if (upstream !== undefined) return { ...more, ...upstream.status(), waiting: waitingIn(upstream) };
  if (!settings.enabled) return { ...more, state: 'disabled', reason: 'disabled in the configuration' };
  const judged = await from.approvals.judgeServer(settings);
  const found = judged.state === 'denied' ? undefined : from.packageOf(settings);
  if (found !== undefined && 'reason' in found) {
    return { ...more, state: found.state === 'changed' ? 'quarantined' : 'needs_install', reason: found.reason };
  }
  return judged.state === 'approved' ? { ...more, state: 'idle' } : { ...more, state: 'needs_approval', reason: judged.reason };
}

/** A server of a project whose host is connected. */
export function rowOfProject(from: Pick<RowsPort, 'mask'>, settings: UpstreamSettings, live: Live): ServerRow {
  const upstream = live.find(keyOf(settings));
  const more = { enabled: settings.enabled, settings: from.mask(settings), problems: [], warnings: [] };
  const waiting = upstream === undefined ? 0 : waitingIn(upstream);
  return { name: settings.name, source: 'project', state: 'idle', ...upstream?.status(), ...more, waiting };
}

/** All there is about one that can be used. */
export async function detailOf(row: ServerRow, settings: UpstreamSettings, from: RowsPort, live: Live): Promise<ServerDetail> {
  const key = keyOf(settings);
  const [judged, recorded] = await Promise.all([from.approvals.judgeServer(settings), recordedOf(from, key)]);
  const asked =
    'difference' in judged ? { sha256: judged.sha256, reason: judged.reason, difference: differenceLines(judged.difference) } : undefined;
  return {
    ...row,
    tool_list: toolRows(settings, live.find(key)?.tools() ?? [], recorded),
    ...(asked === undefined ? {} : { asked }),
    denied: judged.state === 'denied',
    ...packageIn(from.packageOf(settings)),
    login: settings.transport.type !== 'stdio' && settings.transport.oauth !== false,
  };
}

function packageIn(found: ReturnType<RowsPort['packageOf']>): Pick<ServerDetail, 'package'> {
  switch (found.state) {
    case 'none':
      return {};
    case 'installed': {
      const { package: name, package_version: version, integrity } = found.record;
      return { package: { state: 'installed', name, version, ...(integrity === undefined ? {} : { integrity }) } };
    }
    default:
      return { package: { state: found.state, reason: found.reason } };
  }
}

function waitingIn(upstream: Upstream): number {
  return upstream.tools().filter(({ availability }) => availability.state === 'needs_approval').length;
}

async function recordedOf({ approvals }: RowsPort, key: UpstreamKey): Promise<ListedUpstream | undefined> {
  const listed = await approvals.list();
  // What can't be read is said where something is to be answered: nothing of it is approved then.
  return listed.ok ? listed.upstreams.find((each) => each.name === key.name && each.project === key.project) : undefined;
}
