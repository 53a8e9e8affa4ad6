import { createGuard, isPlace, readOutwardUrl } from '../../execution/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Assessment, Finding } from '../../policy/types.ts';
import { readsOnly } from '../reads-only.ts';
import type { Session, Side } from './browsing.ts';
import type { BrowserInput } from './input.ts';
import { hostText, type OpenPlaces, portOf } from './places.ts';

/** Where a navigation leads, before anything is asked of any name server. */
export interface Target {
  readonly url: URL;
  readonly side: Side;
  /** As openings write it. */
  readonly host: string;
}

/** The address of a navigation, read strictly. What the network guard would refuse for its spelling alone is refused here, and nobody is asked about it. */
export async function targetOf(address: string, places: OpenPlaces): Promise<Target | AppError> {
  const read = readOutwardUrl(address);
  if (!read.ok)
    return new AppError('denied_by_policy', `The browser does not open ${address.slice(0, 200)}: ${read.reason}.`, {
      fix: 'Give the whole address, beginning with http:// or https://.',
    });
  const { url, port, host } = read;
  if (isPlace(await places.list(), url.hostname, port)) return { url, side: 'inside', host: hostText(url) };
  if (host.kind === 'address' || host.special !== undefined) {
    // An address and such a name are judged as they are; a look-up would tell the outside what an agent wants before anybody said yes.
    const checked = await createGuard().check(url.hostname, port);
    if (!checked.ok) {
      return new AppError('denied_by_policy', `The browser does not open ${hostText(url)}: ${checked.reason}.`, {
        fix: `A server of your own: start it as a background job with "ports": [${port}]. Otherwise the operator adds "${url.hostname}:${port}" to browser.allow_hosts.`,
      });
    }
  }
  return { url, side: 'outside', host: hostText(url) };
}

/** What a call could do. `session`: the page that is open. */
export function assessCall(call: BrowserInput, target: Target | undefined, session: Session | undefined): Assessment {
  const { action } = call;
  if (action === 'close' || action === 'snapshot' || action === 'screenshot') return readsOnly;
  if (target === undefined) {
    const host = hostAt(session);
    return acts([action, host], { verdict: 'allow', reason: `acts on the page of ${host} that is open, which sends there what it likes` });
  }
  const argv = [action, target.host, target.url.href];
  if (target.side === 'inside') return acts(argv, { verdict: 'allow', reason: `opens ${target.host}, which needs no question here` });
  if (isOpen(target, session)) return acts(argv, { verdict: 'allow', reason: `goes on at ${target.host}, which is open` });
  return acts(argv, {
    reason: `opens a page of ${target.host}; until it is closed the browser goes on there without asking, and the page may load its parts from any public host`,
    opens: { type: 'hosts', hosts: [target.host], presets: [] },
  });
}

/** A yes for this host holds as long as the page that it was given for. */
export function isOpen({ side, url }: Target, session: Session | undefined): boolean {
  if (session === undefined || session.side !== side) return false;
  return side === 'inside' || isPlace(session.opened, url.hostname, portOf(url));
}

function hostAt(session: Session | undefined): string {
  const url = URL.parse(session?.page.url() ?? '');
  return url === null || url.hostname === '' ? 'nowhere' : hostText(url);
}

/** The words are a command of their own kind, so that rules of the operator can name it: `browser navigate HOST URL`. */
function acts(words: readonly string[], more: Pick<Finding, 'verdict' | 'reason' | 'opens'>): Assessment {
  const argv = ['browser', ...words];
  return {
    effects: ['network_egress'],
    findings: [{ effect: 'network_egress', span: [0, 0], argv, command: 0, ...more }],
    commands: [{ argv, span: [0, 0] }],
    git_config_write: false,
  };
}
