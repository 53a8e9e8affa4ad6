import type { Attempt } from '../attempt.ts';

const DAEMON = `perl -MPOSIX -e '
  fork and exit; POSIX::setsid(); fork and exit; chdir "/"; POSIX::close($_) for 0..9; $SIG{$_} = "IGNORE" for qw(HUP INT TERM QUIT USR1);
  open(my $up, ">", "$ARGV[0]/up"); close $up; exec "sleep", "300"' "$WORK"; until [[ -e up ]]; do sleep 0.01; done`;

/** Living on after the end, and reaching other processes. */
export const PROCESSES: readonly Attempt[] = [
  {
    id: 'setsid and nohup',
    script: 'setsid sleep 300 >/dev/null 2>&1 & nohup sleep 300 >/dev/null 2>&1 & disown -a; exit 0',
    proof: 'survivor',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'a double fork with every signal ignored',
    script: DAEMON,
    proof: 'survivor',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'holding the output open',
    script: `trap '' TERM HUP INT; setsid sleep 300 & (sleep 300; :) & exit 0`,
    proof: 'survivor',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'coming back when told to end',
    script: `for i in {1..8}; do (trap 'setsid sleep 300 >/dev/null 2>&1 &' TERM; while :; do sleep 300 & wait; done) >/dev/null 2>&1 & done
      trap 'setsid sleep 300 >/dev/null 2>&1 &' TERM; while :; do sleep 300 & wait; done`,
    proof: 'survivor',
    stopped_by: ['PID namespace'],
    spec: { timeout_ms: 500 },
    ends: 'timed_out',
  },
  {
    id: 'stopped processes',
    script: 'sleep 300 >/dev/null 2>&1 & kill -STOP $!; (kill -STOP $BASHPID) >/dev/null 2>&1 & exit 0',
    proof: 'survivor',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'killing a process outside',
    script: 'kill -9 "$VICTIM"',
    proof: 'victim',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'a process descriptor for one outside',
    script: '[[ $(sys pidfd_open "$VICTIM" 0) == 0 ]] && won victim; [[ $(sys pidfd_open "$SUPERVISOR" 0) == 0 ]] && won supervisor',
    proof: 'claim',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'seeing processes outside',
    script: '[[ -e /proc/$VICTIM || -e /proc/$SUPERVISOR ]] && won seen; kill -0 "$VICTIM" && won answered',
    proof: 'claim',
    stopped_by: ['PID namespace'],
  },
  {
    id: 'ptrace outward',
    // PTRACE_SEIZE, which doesn't stop it.
    script: '[[ $(sys ptrace 16902 "$VICTIM" 0 0) == 0 ]] && won victim',
    proof: 'claim',
    stopped_by: ['the whole sandbox'],
    host_stops: ({ sysctl, uid }) => ((sysctl('kernel/yama/ptrace_scope') ?? 0) > 0 && uid !== 0 ? 'Yama keeps it to children' : undefined),
  },
  {
    id: 'process_vm_readv outward',
    // 14, EFAULT: the right to look was given and only the address was bad.
    script: `n=$(sys process_vm_readv "$VICTIM" x:00100000000000000800000000000000 1 x:00100000000000000800000000000000 1 0)
      [[ $n == 0 || $n == 14 ]] && won "$n"; exit 0`,
    proof: 'claim',
    stopped_by: ['the whole sandbox'],
    host_stops: ({ sysctl, uid }) => ((sysctl('kernel/yama/ptrace_scope') ?? 0) > 0 && uid !== 0 ? 'Yama keeps it to children' : undefined),
  },
  {
    id: 'joining namespaces outside',
    script: `for one in net mnt pid ipc uts user; do
        perl -e 'open(my $f, "<", "/proc/$ARGV[1]/ns/$ARGV[2]") or exit 1; exit(syscall($ARGV[0] + 0, fileno($f), 0) == 0 ? 0 : 1)' "\${NR[setns]}" "$VICTIM" "$one" && won "$one"
      done`,
    proof: 'claim',
    stopped_by: ['the whole sandbox'],
    host_stops: ({ uid }) => (uid === 0 ? undefined : 'joining needs capabilities on the host'),
  },
  {
    id: 'setns at all',
    // Its own user namespace: 22, EINVAL, is the kernel's own answer.
    script: `perl -e 'open(my $f, "<", "/proc/self/ns/user"); syscall($ARGV[0] + 0, fileno($f), 0); exit($! + 0 == 22 ? 0 : 1)' "\${NR[setns]}" && won reached`,
    proof: 'claim',
    stopped_by: ['system call filter'],
  },
  {
    id: 'killing or stopping the init of the namespace',
    script: 'kill -KILL 1; kill -STOP 1; kill -TERM 1; exit 0',
    proof: 'unended',
    stopped_by: [],
    inherent: 'the kernel shields an init from signals of its own namespace',
  },
  {
    id: 'holding the init of the namespace by ptrace',
    script: '[[ $(sys ptrace 16 1 0 0) == 0 ]] && echo attached; exit 0',
    proof: 'unended',
    stopped_by: [],
    inherent: 'a run may trace what is its own; an init that is held ends with the deadline, and its tree with it',
    spec: { timeout_ms: 500 },
    ends: 'timed_out',
  },
  {
    id: 'reading the supervisor’s side of the output',
    script:
      'exec 8</proc/self/fd/1 9</proc/self/fd/2; (cat <&8 & cat <&9 &) >/dev/null 2>&1; for fd in /proc/1/fd/*; do [[ -p $fd ]] && { : < "$fd"; } 2>/dev/null; done; echo end; exit 0',
    proof: 'unended',
    stopped_by: [],
    inherent: 'its own pipes are the run’s to read and to spoil; the supervisor must come to an end all the same',
  },
  {
    id: 'typing into a terminal (TIOCSTI, TIOCLINUX)',
    script: `for request in 21522 21532 4294988818; do
        n=$(sys ioctl 0 $request s:x); [[ $n == 0 || $n == 25 || $n == 22 ]] && won "$request: $n"
      done; exit 0`,
    proof: 'claim',
    stopped_by: ['system call filter'],
    spec: { pty: { cols: 80, rows: 24 } },
  },
  {
    id: 'the terminal of the supervisor',
    script: 'opens /dev/tty && won tty; exec 9<>/dev/tty && [[ $(sys ioctl 9 21522 s:x) == 0 ]] && won typed',
    proof: 'claim',
    stopped_by: ['no terminal'],
  },
];
