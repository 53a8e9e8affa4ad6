/** System calls of the attempts, x64 and arm64 (unistd.h): not taken from the filter's own table, which they are to test. */
const NUMBERS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  clone: [56, 220],
  clone3: [435, 435],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  pidfd_open: [434, 434],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  fsopen: [430, 430],
  open_tree: [428, 428],
  io_uring_setup: [425, 425],
  keyctl: [250, 219],
  add_key: [248, 217],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  kexec_load: [246, 104],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  syslog: [103, 116],
  quotactl: [179, 60],
  acct: [163, 89],
  settimeofday: [164, 170],
  ioctl: [16, 29],
  socket: [41, 198],
  shmat: [30, 196],
};
const column = process.arch === 'arm64' ? 1 : 0;
const numbers = Object.entries(NUMBERS).map(([name, row]) => `[${name}]=${row[column]}`);

/**
 * What scripts may use: bash and the perl that every Debian has.
 *
 * `sys NAME ARGUMENT...` makes a system call and prints 0 or its error number; an argument is a number, `s:text`, `@N` for N bytes of
 * zeros or `x:HEX` for bytes. `unix PATH` (`@NAME` for an abstract one) connects to a socket and prints what it says.
 */
export const PRELUDE = `
declare -A NR=(${numbers.join(' ')})
won() { echo "$CLAIM $*"; }
opens() { ( exec 9<>"$1" ) 2>/dev/null; }
appends() { ( exec 9>>"$1" ) 2>/dev/null; }
sys() {
  local name=$1; shift
  perl -e '
    my ($nr, @words) = @ARGV;
    my @args = map { /^-?[0-9]+$/ ? $_ + 0 : /^s:(.*)/s ? "$1\\0" : /^@(.*)/ ? "\\0" x $1 : pack("H*", substr($_, 2)) } @words;
    my $got = syscall($nr + 0, @args);
    print $got == -1 ? $! + 0 : 0;
  ' "\${NR[$name]}" "$@"
}
unix() {
  perl -MSocket -e '
    my $path = shift; $path =~ s/^@/\\0/;
    my $s; socket($s, AF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un($path)) or die "$!\\n";
    print <$s>;
  ' "$1"
}`;
