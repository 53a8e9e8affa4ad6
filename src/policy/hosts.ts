import { isKnown, type Text } from './text.ts';

/** The hosts that words of a command name: URLs, `user@host:path`, `host:port`, bare names. */
export interface Named {
  /** With a port only where one was named that isn't open for every named host: `example.com:8080`, `[::1]:8080`. */
  readonly hosts: readonly string[];
  /** At least one host is named and all of them are this machine's loopback, which a run has for itself. */
  readonly local: boolean;
}

const HOST = '(?:[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9_-]+)*|\\[[0-9A-Fa-f:.]+\\])';
const FORMS = [
  new RegExp(`^[A-Za-z][A-Za-z0-9+.-]*(?:::)?://(?:[^/@\\s]*@)?(${HOST})\\.?(?::(\\d{1,5}))?(?:[/?#]|$)`),
  new RegExp(`^(?:[^/@:\\s]+@)(${HOST})(?::|$)`),
  new RegExp(`^(${HOST}):(\\d{1,5})(?:/|$)`),
  new RegExp(`^(${HOST}):(?!//)`),
  new RegExp(`^(${HOST})(?:/|$)`),
];

/** What an opened host is opened at when no port is named with it. */
const USUAL_PORTS = ['80', '443', '22'];

interface Place {
  readonly host: string;
  readonly port: string | undefined;
}

function placeOf(word: Text): Place | undefined {
  for (const form of FORMS) {
    const [, host, port] = form.exec(word) ?? [];
    if (host !== undefined && isKnown(host)) return { host: host.toLowerCase().replace(/^\[|\]$/g, ''), port };
  }
  return undefined;
}

function shown({ host, port }: Place): string {
  if (port === undefined || USUAL_PORTS.includes(port)) return host;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1|0\.0\.0\.0)$/;

export function networkOf(words: readonly Text[]): Named {
  const known = words.map(placeOf).filter((place) => place !== undefined);
  const outside = known.filter(({ host }) => !LOOPBACK.test(host));
  const local = words.length > 0 && known.length === words.length && words.every(startsLocal) && outside.length === 0;
  return { hosts: [...new Set(outside.map(shown))], local };
}

/** The part that names the host holds no mark: `http://localhost<unknown>` may become another name. */
function startsLocal(word: Text): boolean {
  const rest = word.replace(/^[a-z]+:\/\//i, '');
  const end = rest.search(/[:/?#]|$/);
  return isKnown(rest.slice(0, end + 1)) && !rest.slice(0, end).includes('@');
}
