import { networkOf } from '../hosts.ts';
import type { Stream } from '../shell/stream.ts';
import { HOLE, isUnknown, type Text } from '../text.ts';
import { all } from './define.ts';
import { optionTable, readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';

const FROM_NETWORK: Stream = { origin: 'network' };

const lastPart = (url: Text): Text =>
  url
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .split('/')
    .at(-1) || 'index.html';

const CURL = optionTable(
  'X=- request=- H=- header=- d=- data=- data-raw=- data-binary=- data-ascii=- data-urlencode=- json=- F=- form=- form-string=- u=- user=- U=- proxy-user=- A=- user-agent=- e=- referer=- o=w output=w output-dir=- T=- upload-file=- K=- config=- x=n proxy=n preproxy=n socks5=n socks5-hostname=n socks4=n D=w dump-header=w c=w cookie-jar=w b=- cookie=- m=- max-time=- connect-timeout=- retry=- retry-delay=- retry-max-time=- r=- range=- C=- continue-at=- w=- write-out=- y=- Y=- z=- time-cond=- E=r cert=r key=r cacert=r capath=r resolve=- connect-to=- interface=- limit-rate=- max-redirs=- url=- trace=w trace-ascii=w stderr=w netrc-file=r libcurl=w etag-save=w etag-compare=r hsts=w alt-svc=w unix-socket=r abstract-unix-socket=- dns-servers=- doh-url=n engine=- ciphers=- proto=- proto-redir=- t=- telnet-option=- Q=- quote=- P=- ftp-port=- variable=- expand-url=- pinnedpubkey=- aws-sigv4=- oauth2-bearer=- O remote-name J remote-header-name n netrc create-dirs',
);

const curl: Program = (call) => {
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

const wget: Program = (call) => {
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

const SSH = optionTable(
  'p=- i=r l=- o=- F=r J=n L=- R=- D=- W=n b=- c=- e=- E=w m=- O=- Q=- S=- w=- I=r B=- P=- 4 6 A a C f G g K k M N n q s T t V v X x Y y',
);

/** `-o ProxyCommand=...` and its kin start programs here. */
function sshOption(call: Call, value: Text): void {
  const match =
    /^\s*(ProxyCommand|LocalCommand|KnownHostsCommand|PKCS11Provider|SecurityKeyProvider|Match|XAuthLocation|ProxyUseFdpass|Include)\s*[= ]\s*"?(.*?)"?$/is.exec(
      value,
    );
  if (match !== null && match[2] !== 'none') call.runsText(match[2] ?? HOLE, `ssh starts a program (${match[1]})`);
  else if (isUnknown(value)) call.report('unknown', 'an option of ssh cannot be known from the text');
}

const sshOptions = (call: Call, words: Words): void => {
  for (const { name, value = '', role } of words.options) {
    if (name === 'o') sshOption(call, value);
    else if (role === 'r' && name !== 'I') call.read(value);
    else if (name === 'I') call.runsText(value, 'ssh loads a library');
    else if (role === 'w') call.write(value);
    else if (name === 'S' && call.name !== 'ssh') call.runsText(value, `${call.name} starts another program to connect`);
    else if (name === 'D' && call.name === 'sftp') call.runsText(value, 'sftp starts a server program');
  }
};

const ssh: Program = (call) => {
  const words = readWords(call.args, SSH, true);
  sshOptions(call, words);
  if (words.has('V', 'G', 'Q')) return undefined;
  const [host, ...rest] = words.operands;
  // A host that is no host but an option in disguise.
  call.network('ssh runs on another host', host === undefined ? [] : [host]);
  // ssh joins its words with spaces and gives them to the shell over there.
  if (rest.length > 0) call.shell(rest.join(' '), { remote: true });
  else if (call.stdin.text !== undefined) call.shell(call.stdin.text, { remote: true });
  return FROM_NETWORK;
};

const isRemote = (word: Text): boolean => /^(?:[^/@\s]+@)?[^/:]+:/.test(word) || /^(scp|sftp|rsync):\/\//.test(word);

const SCP = optionTable('P=- i=r o=- F=r J=n c=- l=- S=- D=p X=- 3 4 6 A B C O p q R r s T v');

const copies =
  (table: ReturnType<typeof optionTable>): Program =>
  (call) => {
    const words = readWords(call.args, table);
    sshOptions(call, words);
    const remote = words.operands.filter(isRemote);
    const target = words.operands.at(-1);
    for (const word of words.operands.slice(0, -1)) if (!isRemote(word)) call.read(word);
    if (target !== undefined && !isRemote(target)) call.write(target, remote.length > 0 ? FROM_NETWORK : undefined);
    if (remote.length > 0 || words.operands.length === 0) call.network(`${call.name} copies between hosts`, remote);
    return undefined;
  };

const RSYNC = optionTable(
  'e=p rsh=p rsync-path=- f=- filter=- include=- exclude=- include-from=r exclude-from=r files-from=r T=w temp-dir=w backup-dir=w suffix=- log-file=w password-file=r partial-dir=w compare-dest=r copy-dest=r link-dest=r bwlimit=- timeout=- contimeout=- port=- sockopts=- B=- block-size=- max-size=- min-size=- chmod=- chown=- usermap=- groupmap=- out-format=- write-batch=w only-write-batch=w read-batch=r info=- debug=- modify-window=- max-delete=- iconv=- address=- M=- remote-option=- delete del delete-before delete-after delete-during delete-delay delete-excluded delete-missing-args remove-source-files early-input=r daemon',
);

const rsync: Program = (call) => {
  const words = readWords(call.args, RSYNC);
  for (const { value = '', role } of words.options) {
    if (role === 'p' && !/^ssh(\s+-(p|i|l|F)\s*\S+|\s+-[qvC46ATx]+)*$/.test(value))
      call.runsText(value, 'rsync starts a program to connect');
    else if (role === 'p' && /-i\s*(\S+)/.test(value)) call.read(/-i\s*(\S+)/.exec(value)?.[1] ?? HOLE);
    else if (role === 'r') call.read(value);
    else if (role === 'w') call.write(value);
  }
  const there = words.operands.filter(isRemote);
  const target = words.operands.at(-1);
  const path = words.value('rsync-path');
  if (path !== undefined) call.shell(path, { remote: true });
  for (const word of words.operands.slice(0, -1)) {
    if (isRemote(word)) continue;
    call.read(word);
    if (words.has('remove-source-files')) call.remove(word, true);
  }
  const deletes = words.options.some((option) => /^del(ete(-\w+)*)?$/.test(option.name));
  if (target !== undefined && words.operands.length > 1) {
    if (!isRemote(target)) {
      call.write(target, there.length > 0 ? FROM_NETWORK : undefined);
      if (deletes && !words.has('n', 'dry-run', 'list-only')) call.remove(target, true);
    } else if (deletes) call.report('destructive', 'removes files on another host');
  }
  if (there.length > 0) call.network('rsync copies between hosts', there);
  return undefined;
};

const SHELLS = /(^|\/)(ba|da|z|k|c|tc|fi)?sh\b|cmd\.exe|powershell|python|perl|ruby/;

const netcat: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable(
      'e=- exec=- c=- sh-exec=- lua-exec=r p=- s=- w=- q=- i=- x=n X=- I=- O=- T=- P=- M=- m=- o=w hex-dump=w proxy=n proxy-type=- ssl-cert=r ssl-key=r l k u v n z N U 4 6 d t C D F h',
    ),
  );
  const program = words.value('e', 'exec') ?? words.value('c', 'sh-exec');
  if (program !== undefined) {
    if (SHELLS.test(program) || isUnknown(program)) call.report('blocked', 'connects a shell to another host');
    else call.runsText(program, 'connects a program to another host');
  }
  call.network(`${call.name} opens a connection`, words.operands.slice(0, 1));
  const local = networkOf(words.operands.slice(0, 1)).local;
  return local ? FROM_NETWORK : FROM_NETWORK;
};

const socat: Program = (call) => {
  const addresses = call.args.filter((arg) => !arg.startsWith('-') || arg === '-');
  for (const address of addresses) {
    const program = /^(exec|system|shell):(.*)$/is.exec(address)?.[2];
    if (program !== undefined) {
      const command = program.replace(/^["']/, '').split(',')[0] ?? '';
      if (SHELLS.test(command) || isUnknown(command)) call.report('blocked', 'connects a shell to another host');
      else call.runsText(command, 'connects a program to another host');
    }
    const file = /^(open|create|gopen|file):([^,]+)/i.exec(address)?.[2];
    if (file !== undefined) call.write(file);
    if (/^unix(-\w+)?:/i.test(address)) call.report('system_write', 'talks to a socket of the host');
  }
  const hosts = addresses
    .map((address) => /^(?:tcp|udp|openssl|ssl|sctp|socks\w*|proxy)\d?(?:-\w+)?:\[?([^:,\]]+)/i.exec(address)?.[1])
    .filter((host) => host !== undefined);
  if (addresses.some((address) => /^(tcp|udp|openssl|ssl|sctp|socks|proxy|ip)/i.test(address)))
    call.network('socat opens a connection', hosts);
  return FROM_NETWORK;
};

const lookup: Program = (call) => {
  const words = call.args.filter((arg) => !/^[-+]/.test(arg));
  for (const arg of call.args) if (/^-f/.test(arg)) call.read(arg.length > 2 ? arg.slice(2) : (words[0] ?? HOLE));
  call.network(
    `${call.name} asks other hosts`,
    words.map((word) => word.replace(/^@/, '')),
  );
  return FROM_NETWORK;
};

const generic =
  (reason: string): Program =>
  (call) => {
    const words = call.args.filter((arg) => !arg.startsWith('-'));
    call.network(
      `${call.name} ${reason}`,
      words.filter((word) => /[.:@]|localhost/.test(word)),
    );
    return FROM_NETWORK;
  };

const httpie: Program = (call) => {
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

const gh: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable(
      'R=- repo=- X=- method=- f=- F=- field=- raw-field=- H=- header=- input=r q=- jq=- t=- template=- hostname=- json=- b=- body=- body-file=r title=- L=- limit=- s=- state=- l=- label=- a=- assignee=- D=w dir=w O=w output=w p=- pattern=- B=- base=- head=- m=- w web',
    ),
  );
  const [noun = '', verb = ''] = words.operands;
  if (noun === '' || noun === 'version' || noun === 'help' || noun === 'completion') return undefined;
  if (noun === 'auth') {
    if (/^(token|status)$/.test(verb) && (verb === 'token' || words.has('show-token', 't')))
      call.report('credential_access', 'prints the access token');
    else if (verb === 'setup-git') call.report('persistence', 'changes the configuration of git');
    else if (verb !== 'status') call.report('credential_access', 'changes stored credentials');
    if (verb === 'token') return undefined;
  }
  for (const { role, value } of words.options) {
    if (role === 'r' && value !== undefined && value !== '-') call.read(value);
    if (role === 'w' && value !== undefined) call.write(value);
  }
  for (const { name, value = '' } of words.options)
    if (/^(F|field)$/.test(name) && /=@/.test(value)) call.read(value.slice(value.indexOf('=@') + 2));
  if (noun === 'alias' && verb === 'set') {
    call.report('persistence', 'adds a command to gh');
    return undefined;
  }
  if (noun === 'config' && verb === 'set') call.report('persistence', 'changes what gh starts');
  if (noun === 'extension')
    call.report('install', 'installs or runs an extension', { opens: { type: 'hosts', hosts: [], presets: ['github'] } });
  call.network('gh talks to GitHub', [], ['github']);
  if (call.name === 'gh') call.needs('.config/gh');
  if (noun === 'api') {
    const method = words.value('X', 'method') ?? '';
    if (/^delete$/i.test(method)) call.report('destructive', 'removes something on GitHub');
    if (/\bdelete\w*\s*\(/i.test(call.args.join(' '))) call.report('destructive', 'removes something on GitHub');
  } else if (/^(delete|delete-asset|archive|purge)$/.test(verb) || (noun === 'repo' && /^(delete|rename|transfer)$/.test(verb)))
    call.report('destructive', 'removes something on GitHub');
  if (noun === 'secret' || noun === 'variable' || noun === 'ssh-key' || noun === 'gpg-key')
    call.report('credential_access', 'handles secrets of a repository or account');
  if (/^(checkout)$/.test(verb)) call.report('code_execution', 'may run hooks of the repository');
  if (noun === 'api' || /^(view|list|diff)$/.test(verb)) return FROM_NETWORK;
  return FROM_NETWORK;
};

export const NETWORK: readonly (readonly [string, Program])[] = [
  ...all('curl curlie', curl),
  ...all('wget wget2', wget),
  ...all('http https xh xhs httpie', httpie),
  ...all('aria2c axel lynx w3m links elinks lftp ftp ncftp youtube-dl yt-dlp httrack gallery-dl', generic('reaches another host')),
  ...all('ssh autossh mosh dbclient', ssh),
  ...all('sshpass', (call: Call) => {
    call.report('credential_access', 'passes a password on');
    const words = readWords(call.args, optionTable('p=- f=r d=- P=- e v'), true);
    const at = words.at[0];
    return at === undefined ? undefined : call.inner(at);
  }),
  ['scp', copies(SCP)],
  ['sftp', copies(optionTable('P=- i=r o=- F=r J=n c=- l=- S=- D=- b=r B=- R=- s=- X=- 4 6 a A C f N p q r v'))],
  ...all('sshfs', (call: Call) => {
    call.report('system_write', 'mounts a file system');
    call.network('reaches another host', call.args.slice(0, 1));
    return undefined;
  }),
  ['rsync', rsync],
  ...all('rclone', (call: Call) => {
    call.network('rclone copies between hosts', []);
    if (/^(delete|purge|sync|deletefile|cleanup|rmdirs|move)$/.test(call.args[0] ?? ''))
      call.report('destructive', 'removes files on a remote');
    if (/^(config)$/.test(call.args[0] ?? '')) call.report('credential_access', 'shows or changes stored credentials');
    return FROM_NETWORK;
  }),
  ...all(
    'ssh-keyscan whois traceroute tracepath mtr nmap masscan zmap hping3 fping arping nping dnsrecon iperf iperf3 telnet rlogin rsh finger ntpdate sntp speedtest speedtest-cli wscat websocat grpcurl evans mqtt mosquitto_pub mosquitto_sub swaks mail mailx mutt sendmail msmtp ngrok cloudflared localtunnel lt tailscale',
    generic('reaches other hosts'),
  ),
  ...all('ping ping6 dig host nslookup drill resolvectl delv kdig dog', lookup),
  ...all('nc ncat netcat nc.openbsd nc.traditional', netcat),
  ['socat', socat],
  ['gh', gh],
  ...all('glab hub tea', gh),
  [
    'ssh-keygen',
    (call: Call) => {
      const words = readWords(call.args, optionTable('f=- t=- b=- C=- N=- P=- m=- l y e i p R=- F=- q B=- D=- s=- I=- n=- Y=- O=-'));
      const file = words.value('f');
      if (words.has('y', 'l', 'e', 'B') && file !== undefined) call.read(file);
      else if (!words.has('F', 'l')) call.write(file ?? '~/.ssh/id_ed25519'.replace('~', HOLE));
      return undefined;
    },
  ],
  ...all('ssh-add ssh-agent ssh-copy-id', (call: Call) => {
    call.report('credential_access', 'handles the keys of the person');
    if (call.name === 'ssh-copy-id')
      call.network(
        'reaches another host',
        call.args.filter((arg) => !arg.startsWith('-')),
      );
    if (call.name === 'ssh-agent' && call.args.length > 0 && !call.args[0]?.startsWith('-')) call.inner(0);
    return undefined;
  }),
  [
    'openssl',
    (call: Call) => {
      const [verb = '', ...rest] = call.args;
      const words = readWords(
        rest,
        optionTable(
          'in=r out=w key=r keyout=w inkey=r CAfile=r cert=r passin=- pass=- connect=- k=- K=- iv=- engine=p config=r d a e',
          true,
        ),
      );
      for (const { role, value } of words.options) {
        if (role === 'r' && value !== undefined) call.read(value);
        else if (role === 'w' && value !== undefined) call.write(value);
        else if (role === 'p' && value !== undefined) call.runsText(value, 'openssl loads an engine');
      }
      if (/^(s_client|s_time|ocsp)$/.test(verb)) {
        call.network('openssl opens a connection', [words.value('connect') ?? HOLE]);
        return FROM_NETWORK;
      }
      if (words.has('d') || verb === 'base64') return { origin: call.stdin.origin === 'network' ? 'network' : 'decoded' };
      return undefined;
    },
  ],
  ...all('gpg gpg2', (call: Call) => {
    const words = readWords(
      call.args,
      optionTable(
        'o=w output=w r=- recipient=- u=- homedir=r passphrase=- passphrase-file=r keyserver=n d decrypt e encrypt s sign verify import export export-secret-keys recv-keys search-keys send-keys gen-key delete-secret-keys list-keys k K',
      ),
    );
    for (const { role, value } of words.options) {
      if (role === 'w' && value !== undefined) call.write(value);
      if (role === 'r' && value !== undefined) call.read(value);
    }
    if (words.has('export-secret-keys', 'export-secret-subkeys', 'd', 'decrypt', 's', 'sign', 'K'))
      call.report('credential_access', 'uses or shows secret keys');
    if (words.has('recv-keys', 'search-keys', 'send-keys', 'refresh-keys', 'keyserver')) call.network('reaches a key server', []);
    if (words.has('import', 'gen-key', 'delete-secret-keys', 'delete-keys')) call.report('system_write', 'changes the keys of the person');
    for (const word of words.operands) call.read(word);
    return { origin: call.stdin.origin === 'network' ? 'network' : 'decoded' };
  }),
];
