import type { Attempt, Host } from '../attempt.ts';

const FILTER = ['system call filter'] as const;
const MOUNTS = ['system call filter', 'no capabilities', 'inner user namespace'] as const;
const needsCapability = (): string => 'it needs a capability on the host itself, which no user namespace gives';
const switchedOff = (name: string, above: number) => (host: Host) =>
  (host.sysctl(name) ?? 0) > above ? `${name} switches it off` : undefined;
/** What a planted hook does: it leaves a file outside. */
const HOOK = `printf '#!/bin/sh\\ntouch "%s/pwned"\\n' "$OUT" > evil; chmod +x evil`;

/** System calls that open more of the kernel, or undo what it was told. */
export const KERNEL: readonly Attempt[] = [
  {
    id: 'a user namespace by unshare',
    script: 'unshare -U true && won user; unshare -Ur id -u && won root; unshare -Urn true && won network',
    proof: 'claim',
    stopped_by: ['system call filter', 'no nested user namespaces'],
  },
  {
    id: 'a user namespace by clone and clone3',
    script: `perl -e '
        my $r = syscall($ARGV[0] + 0, 0x10000011, 0, 0, 0, 0); if ($r == 0) { require POSIX; POSIX::_exit(0) } print "$ARGV[2] clone\\n" if $r > 0;
        my $args = pack("Q11", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0);
        $r = syscall($ARGV[1] + 0, $args, 88); if ($r == 0) { require POSIX; POSIX::_exit(0) } print "$ARGV[2] clone3\\n" if $r > 0;
      ' "\${NR[clone]}" "\${NR[clone3]}" "$CLAIM"`,
    proof: 'claim',
    stopped_by: ['system call filter', 'no nested user namespaces'],
  },
  {
    id: 'a mount of its own',
    script: 'mkdir m; mount -t tmpfs none m && won tmpfs; [[ $(sys mount s:none "s:$WORK/m" s:tmpfs 0 0) == 0 ]] && won call; exit 0',
    proof: 'claim',
    stopped_by: MOUNTS,
  },
  {
    id: 'a guard taken off by umount or remount',
    script: `${HOOK}; umount .git/hooks; umount -l .git/hooks; mount -o remount,bind,rw .git/hooks; cp evil .git/hooks/pre-commit`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: MOUNTS,
  },
  {
    id: 'another root by pivot_root',
    script: '[[ $(sys pivot_root s:. s:.) == 0 ]] && won pivoted; exit 0',
    proof: 'claim',
    stopped_by: MOUNTS,
  },
  {
    id: 'another root by chroot',
    script: 'mkdir r; [[ $(sys chroot s:r) == 0 ]] && won chroot; exit 0',
    proof: 'claim',
    stopped_by: ['system call filter', 'no capabilities'],
  },
  {
    id: 'the new mount interface',
    script: '[[ $(sys fsopen s:tmpfs 0) == 0 ]] && won fsopen; [[ $(sys open_tree -100 s:. 1) == 0 ]] && won open_tree; exit 0',
    proof: 'claim',
    stopped_by: MOUNTS,
  },
  {
    id: 'io_uring',
    script: '[[ $(sys io_uring_setup 1 @120) == 0 ]] && won ring; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
    host_stops: switchedOff('kernel/io_uring_disabled', 0),
  },
  {
    id: 'key rings',
    script: '[[ $(sys keyctl 0 -3 0) == 0 ]] && won session; [[ $(sys add_key s:user s:writ-escape s:x 1 -2) == 0 ]] && won key; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'bpf',
    // BPF_OBJ_GET of nothing: any answer but EPERM is the kernel's.
    script: 'n=$(sys bpf 7 @128 128); [[ $n == 1 || $n == 38 ]] || won "$n"; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'perf_event_open',
    script: `n=$(sys perf_event_open "x:0100000070000000$(printf '00%.0s' {1..32})60$(printf '00%.0s' {1..71})" 0 -1 -1 0); [[ $n == 0 || $n == 13 ]] && won "$n"; exit 0`,
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'userfaultfd',
    script: '[[ $(sys userfaultfd 1) == 0 ]] && won descriptor; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'fanotify',
    script: '[[ $(sys fanotify_init 512 0) == 0 ]] && won group; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'open_by_handle_at',
    // A bad folder: 9, EBADF, comes before anybody asks for capabilities.
    script: 'n=$(sys open_by_handle_at -1 @128 0); [[ $n == 1 ]] || won "$n"; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'the kernel log and quotas',
    script:
      'n=$(sys syslog 10 0 0); [[ $n == 1 ]] || won "log $n"; n=$(sys quotactl 2147483904 0 0 0); [[ $n == 1 ]] || won "quota $n"; exit 0',
    proof: 'claim',
    stopped_by: FILTER,
  },
  {
    id: 'modules, kexec, accounting, the clock',
    script: `for call in 'kexec_load 0 0 0 0' 'init_module @8 8 s:' 'finit_module -1 s: 0' 'delete_module s:none 0' 'acct s:/none' 'settimeofday @16 0'; do
        n=$(sys $call); [[ $n == 1 ]] || won "$call: $n"
      done; exit 0`,
    proof: 'claim',
    stopped_by: FILTER,
    host_stops: needsCapability,
  },
  {
    id: 'calls of another architecture (x32)',
    script: `perl -e 'exit(syscall(0x40000000 + 39) > 0 ? 0 : 1)' && won x32; exit 0`,
    proof: 'claim',
    stopped_by: FILTER,
    host_stops: () => 'kernels have it only when they are built for it',
  },
];
