import { networkOf } from '../hosts.ts';
import { HOLE, isUnknown } from '../text.ts';
import { all } from './define.ts';
import { curl, FROM_NETWORK, httpie, wget } from './http.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';
import { copies, rsync, SCP, ssh } from './remote.ts';

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

const gh: Program = (call) => {
  const words = readWords(
    call.args,
    optionTable(
      'R=- repo=- X=- method=- f=- F=- field=- raw-field=- H=- header=- input=r q=- jq=- t=- template=- hostname=- json=- b=- body=- body-file=r title=- L=- limit=- s=- state=- l=- label=- a=- assignee=- D=w dir=w O=w output=w p=- pattern=- B=- base=- head=- m=- w web',
    ),
  );
  const [noun = '', verb = ''] = words.operands;
  if (noun === '' || noun === 'version' || noun === 'help' || noun === 'completion') return undefined;
  if (call.args.at(-1) === '--help' && !/^(alias|extension|ext)$/.test(noun)) return undefined;
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
    'ssh-keyscan whois traceroute tracepath mtr nmap masscan zmap hping3 fping arping nping dnsrecon iperf iperf3 telnet rlogin rsh finger ntpdate sntp speedtest speedtest-cli wscat websocat grpcurl evans mqtt mosquitto_pub mosquitto_sub swaks mail mailx mutt sendmail msmtp',
    generic('reaches other hosts'),
  ),
  // They show a port of this machine to everybody: that the port is local says nothing.
  ...all('ngrok cloudflared localtunnel lt tailscale bore', (call: Call) => {
    call.network(`${call.name} opens a way in from other hosts`, []);
    return FROM_NETWORK;
  }),
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
