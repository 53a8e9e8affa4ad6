import type { Attempt } from '../attempt.ts';

/** An allow-list that names these with the very port that listens: only what they are stands against them. */
const named =
  (...hosts: readonly string[]): NonNullable<Attempt['spec']> =>
  ({ outside }) => ({ network: { hosts: hosts.map((host) => `${host}:${outside.variables['TCP4']}`), presets: [] } });

/** Talking to what listens outside. */
export const NETWORK: readonly Attempt[] = [
  {
    id: 'docker.sock and its like in /tmp',
    script:
      'unix "$SOCKET_OUT"; for one in /run/docker.sock /var/run/docker.sock /run/containerd/containerd.sock /run/systemd/private; do unix "$one" && won "$one"; done',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'sockets in /run',
    script: 'unix "$SOCKET_RUN"; for one in /run/*/*.sock /run/*.sock; do [[ -S $one ]] && won "$one"; done',
    proof: 'secret',
    stopped_by: ['empty /run'],
    host_stops: ({ self }) => (self === 0 ? undefined : 'only root can put a socket there for this suite'),
  },
  {
    id: 'an agent’s socket in the home',
    script: 'unix "$SOCKET_HOME"; unix "$SSH_AUTH_SOCK"; SSH_AUTH_SOCK=$SOCKET_HOME ssh-add -l',
    proof: 'contacted',
    stopped_by: ['private HOME'],
  },
  {
    id: 'an abstract socket',
    script: 'unix "$ABSTRACT"; grep -a "$ABSTRACT" /proc/net/unix && won seen',
    proof: 'secret',
    stopped_by: ['network namespace'],
  },
  {
    id: 'TCP on loopback',
    script: 'cat < "/dev/tcp/127.0.0.1/$TCP4"; cat < "/dev/tcp/localhost/$TCP4"; cat < "/dev/tcp/0.0.0.0/$TCP4"',
    proof: 'secret',
    stopped_by: ['network namespace'],
  },
  {
    id: 'TCP on loopback, IPv6',
    script: 'cat < "/dev/tcp/::1/$TCP6"',
    proof: 'secret',
    stopped_by: ['network namespace'],
    host_stops: ({ has }) => (has.ipv6 ? undefined : 'it has no IPv6'),
  },
  {
    id: 'UDP, as a name server is asked',
    script: 'for i in 1 2 3; do echo who > "/dev/udp/127.0.0.1/$UDP"; done; getent hosts "$CLAIM.example.org"',
    proof: 'contacted',
    stopped_by: ['network namespace'],
  },
  {
    id: 'interfaces of the host',
    script: `while IFS=: read -r name _; do name=\${name// /}; [[ $name == lo ]] || won "$name"; done < <(tail -n +3 /proc/net/dev)`,
    proof: 'claim',
    stopped_by: ['network namespace'],
    host_stops: ({ has }) => (has.interfaces ? undefined : 'it has no interface but loopback'),
  },
  {
    id: 'raw sockets',
    script: `[[ $(sys socket 2 3 1) == 0 ]] && won icmp; [[ $(sys socket 10 3 58) == 0 ]] && won icmp6; [[ $(sys socket 17 3 0) == 0 ]] && won packet`,
    proof: 'claim',
    stopped_by: ['no capabilities', 'inner user namespace'],
  },
  {
    id: 'other address families (VSOCK, ALG, Bluetooth)',
    script: 'for family in 40 38 31; do for type in 1 2 3 5; do [[ $(sys socket $family $type 0) == 0 ]] && won "$family"; done; done',
    proof: 'claim',
    stopped_by: ['system call filter'],
    host_stops: ({ has }) => (has.vsock ? undefined : 'it has none of them'),
  },
  {
    id: 'loopback through the allow-list proxy, in every spelling',
    script: [
      'for host in 127.0.0.1 127.1 0x7f000001 2130706433 0 0.0.0.0 localhost localhost. "[::ffff:127.0.0.1]" "[::1]" www.example.com@127.0.0.1; do',
      '  for head in "CONNECT $host:$TCP4 HTTP/1.1" "GET http://$host:$TCP4/ HTTP/1.1" "GET http://www.example.com:$TCP4/ HTTP/1.1"; do',
      '    exec 3<>/dev/tcp/127.0.0.1/17420 && printf "%s\\r\\nHost: $host:$TCP4\\r\\n\\r\\n" "$head" >&3 && timeout 3 cat <&3; exec 3>&-',
      '  done',
      'done',
    ].join('\n'),
    proof: 'secret',
    stopped_by: [],
    inherent: 'the proxy is outside, and there is no other way to it; its own tests show each refusal',
    spec: named('www.example.com', '127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::ffff:127.0.0.1]'),
  },
  {
    id: 'loopback through SOCKS, by address and by name',
    script: [
      'port=$(printf "\\\\x%02x\\\\x%02x" $((TCP4 >> 8)) $((TCP4 & 255)))',
      'for target in "\\x01\\x7f\\x00\\x00\\x01" "\\x01\\x00\\x00\\x00\\x00" "\\x03\\x09localhost" "\\x03\\x05127.1"; do',
      '  exec 3<>/dev/tcp/127.0.0.1/17421 && printf "\\x05\\x01\\x00\\x05\\x01\\x00$target$port" >&3 && timeout 3 cat <&3; exec 3>&-',
      'done',
    ].join('\n'),
    proof: 'secret',
    stopped_by: [],
    inherent: 'the proxy is outside, and there is no other way to it; its own tests show each refusal',
    spec: named('127.0.0.1', 'localhost', '0.0.0.0'),
  },
  {
    id: 'what made the sockets of an allow-list',
    script: [
      'for one in $(cd /proc/self/fd; echo *); do [[ $one -le 2 || $one == 255 || ! -e /proc/self/fd/$one ]] || won "descriptor $one"; done',
      'env | grep -q NODE_CHANNEL && won channel',
      'for pid in /proc/[0-9]*; do [[ $(< $pid/comm) == node ]] && won helper; done',
      '(echo "{}" > /proc/1/fd/7) && won "the channel"; (: >> /proc/1/fd/8) && won "the program"',
    ].join('\n'),
    proof: 'claim',
    stopped_by: [],
    inherent: 'it has ended before the command begins, and its channel with it',
    spec: { network: { hosts: ['www.example.com'], presets: [] } },
  },
];
