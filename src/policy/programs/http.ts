import type { Stream } from '../shell/stream.ts';
import { HOLE, isUnknown, type Text } from '../text.ts';
import { optionTable, readWords } from './options.ts';
import type { Program } from './program.ts';

export const FROM_NETWORK: Stream = { origin: 'network' };

const lastPart = (url: Text): Text =>
  url
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .split('/')
    .at(-1) || 'index.html';

const CURL = optionTable(
  'X=- request=- H=- header=- d=- data=- data-raw=- data-binary=- data-ascii=- data-urlencode=- json=- F=- form=- form-string=- u=- user=- U=- proxy-user=- A=- user-agent=- e=- referer=- o=w output=w output-dir=- T=- upload-file=- K=- config=- x=n proxy=n preproxy=n socks5=n socks5-hostname=n socks4=n D=w dump-header=w c=w cookie-jar=w b=- cookie=- m=- max-time=- connect-timeout=- retry=- retry-delay=- retry-max-time=- r=- range=- C=- continue-at=- w=- write-out=- y=- Y=- z=- time-cond=- E=r cert=r key=r cacert=r capath=r resolve=- connect-to=- interface=- limit-rate=- max-redirs=- url=- trace=w trace-ascii=w stderr=w netrc-file=r libcurl=w etag-save=w etag-compare=r hsts=w alt-svc=w unix-socket=r abstract-unix-socket=- dns-servers=- doh-url=n engine=- ciphers=- proto=- proto-redir=- t=- telnet-option=- Q=- quote=- P=- ftp-port=- variable=- expand-url=- pinnedpubkey=- aws-sigv4=- oauth2-bearer=- O remote-name J remote-header-name n netrc create-dirs',
);

/** `HOST:PORT:ADDRESS[,ADDRESS]` and `HOST1:PORT1:HOST2:PORT2`: what it leads to, nothing where that is left as it was. */
const leadsTo = (value: Text): Text => /^[^:]*:[^:]*:\+?(\[[^\]]*\]|[^:,]*)/.exec(value)?.[1] || (isUnknown(value) ? HOLE : 'localhost');

export const curl: Program = (call) => {
  const words = readWords(call.args, CURL);
  const urls: Text[] = [...words.operands];
  let out: Text | undefined;
  const folder = words.value('output-dir');
  for (const { name, value = '', role } of words.options) {
    if (name === 'url') urls.push(value);
    else if (name === 'K' || name === 'config') {
      if (value !== '-') call.read(value);
      call.report('unknown', 'takes its options from a file');
      call.network('curl reaches hosts named in a file', []);
    } else if (/^(o|output)$/.test(name)) out = folder === undefined || value.startsWith('/') ? value : `${folder}/${value}`;
    else if (role === 'w') call.write(value);
    else if (role === 'r') call.read(value);
    else if (role === 'n') urls.push(value);
    // Another place than the one that the address names.
    else if (name === 'resolve' || name === 'connect-to') urls.push(leadsTo(value));
    else if (name === 'dns-servers') urls.push(...value.split(','));
    else if (/^(d|data|data-binary|data-ascii|json|data-urlencode)$/.test(name)) {
      const file = /^[^@]*@(.+)$/s.exec(value)?.[1];
      if (file !== undefined && (value.startsWith('@') || name === 'data-urlencode')) call.read(file);
    } else if (/^(F|form)$/.test(name)) {
      const file = /^[^=]*=[@<]([^;,]+)/.exec(value)?.[1];
      if (file !== undefined) call.read(file);
    } else if (/^(T|upload-file)$/.test(name)) {
      if (value !== '-' && value !== '.') call.read(value);
    } else if (/^(b|cookie|H|header|w|write-out)$/.test(name) && value.startsWith('@')) call.read(value.slice(1));
    else if (name === 'b' && !value.includes('=')) call.read(value);
    else if (name === 'n' || name === 'netrc') call.report('credential_access', 'takes credentials from the netrc file');
    else if (/^(unix-socket)$/.test(name))
      call.report('system_write', 'talks to a service of the host', {
        opens: { type: 'uncontained', why: 'sockets of the host are hidden' },
      });
  }
  const files = urls.filter((url) => /^file:/i.test(url));
  for (const url of files) call.read(url.replace(/^file:\/*/i, '/'));
  const remote = urls.filter((url) => !/^file:/i.test(url));
  if (remote.length > 0) call.network('curl reaches another host', remote);
  if (urls.length === 0 && !words.has('K', 'config')) return undefined;
  const stream: Stream = remote.length === 0 && files.length > 0 ? { origin: 'local' } : FROM_NETWORK;
  if (out !== undefined && out !== '-') {
    call.write(out, stream);
    return { origin: 'local' };
  }
  if (words.has('O', 'remote-name', 'remote-name-all')) {
    for (const url of urls) call.write(`${folder ?? '.'}/${isUnknown(url) ? HOLE : lastPart(url)}`, stream);
    return { origin: 'local' };
  }
  return stream;
};

const WGET = optionTable(
  'O=w output-document=w o=w output-file=w a=w append-output=w P=- directory-prefix=- i=- input-file=- e=- execute=- U=- user-agent=- header=- post-data=- post-file=r body-file=r body-data=- method=- user=- password=- t=- tries=- T=- timeout=- w=- wait=- Q=- B=n base=n l=- level=- A=- accept=- R=- reject=- D=- domains=- I=- X=- load-cookies=r save-cookies=w ca-certificate=r certificate=r private-key=r config=r rejected-log=w warc-file=w use-askpass=p limit-rate=- max-redirect=- start-pos=- c q r m p k N nc S spider no-check-certificate content-disposition',
);

export const wget: Program = (call) => {
  const words = readWords(call.args, WGET);
  const target = words.value('O', 'output-document');
  for (const { name, value = '', role } of words.options) {
    if (name === 'i' || name === 'input-file') {
      if (value !== '-') call.read(value);
      call.network('wget reaches hosts named in a file', []);
    } else if (name === 'e' || name === 'execute') call.report('unknown', 'sets options of wget as in its start-up file');
    else if (role === 'p') call.runsText(value, 'wget starts a program');
    else if (role === 'r') call.read(value);
    else if (role === 'w' && value !== '-') call.write(value, /^(O|output-document)$/.test(name) ? FROM_NETWORK : undefined);
  }
  if (words.operands.length > 0) call.network('wget reaches another host', words.operands);
  if (words.has('spider')) return undefined;
  if (target === '-') return FROM_NETWORK;
  if (target === undefined)
    for (const url of words.operands)
      call.write(`${words.value('P', 'directory-prefix') ?? '.'}/${isUnknown(url) ? HOLE : lastPart(url)}`, FROM_NETWORK);
  return undefined;
};

export const httpie: Program = (call) => {
  const words = call.args.filter((arg) => !arg.startsWith('-') && !/^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/.test(arg));
  for (const word of words.slice(1)) {
    const file = /(?::?=)?@(.+)$/.exec(word)?.[1];
    if (file !== undefined && /@/.test(word) && !/^https?:/.test(word)) call.read(file);
  }
  const [url = HOLE] = words;
  call.network('reaches another host', [/^:\d*/.test(url) ? `localhost${url}` : url]);
  const out = call.args.findIndex((arg) => arg === '-o' || arg === '--output');
  if (out >= 0) {
    call.write(call.args[out + 1] ?? HOLE, FROM_NETWORK);
    return undefined;
  }
  return FROM_NETWORK;
};
