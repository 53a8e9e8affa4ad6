import { isKnown, type Text } from './text.ts';

/** The hosts that words of a command name: URLs, `user@host:path`, `host:port`, bare names. */
export interface Named {
  readonly hosts: readonly string[];
  /** At least one host is named and all of them are this machine's loopback, which a run has for itself. */
  readonly local: boolean;
}

const HOST = '(?:[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9_-]+)*|\\[[0-9A-Fa-f:.]+\\])';
const FORMS = [
  new RegExp(`^[A-Za-z][A-Za-z0-9+.-]*(?:::)?://(?:[^/@\\s]*@)?(${HOST})\\.?(?::\\d+)?(?:[/?#]|$)`),
  new RegExp(`^(?:[^/@:\\s]+@)(${HOST})(?::|$)`),
  new RegExp(`^(${HOST}):(?!//)`),
  new RegExp(`^(${HOST})(?:/|$)`),
];

export function hostOf(word: Text): string | undefined {
  for (const form of FORMS) {
    const host = form.exec(word)?.[1];
    if (host !== undefined && isKnown(host)) return host.toLowerCase().replace(/^\[|\]$/g, '');
  }
  return undefined;
}

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1|0\.0\.0\.0)$/;

export function networkOf(words: readonly Text[]): Named {
  const hosts = words.map(hostOf);
  const known = hosts.filter((host) => host !== undefined);
  const distinct = [...new Set(known)];
  const local =
    words.length > 0 && known.length === words.length && words.every(startsLocal) && distinct.every((host) => LOOPBACK.test(host));
  return { hosts: distinct.filter((host) => !LOOPBACK.test(host)), local };
}

/** The part that names the host holds no mark: `http://localhost<unknown>` may become another name. */
function startsLocal(word: Text): boolean {
  const rest = word.replace(/^[a-z]+:\/\//i, '');
  const end = rest.search(/[:/?#]|$/);
  return isKnown(rest.slice(0, end + 1)) && !rest.slice(0, end).includes('@');
}
