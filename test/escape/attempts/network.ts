import type { Attempt } from '../attempt.ts';

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
];
