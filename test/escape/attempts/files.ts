import { chmodSync, copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Attempt, onlyRoot } from '../attempt.ts';

/** Reading and writing outside of what was given. */
export const FILES: readonly Attempt[] = [
  {
    id: 'read by absolute path',
    script: 'cat "$OUT/secret"',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'write by absolute path',
    script: 'echo planted > "$OUT/new"; echo planted >> "$OUT/settings.json"; rm -f "$OUT/secret"',
    proof: 'outside',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'read and write by ../',
    script: 'cat ../../out/secret; echo planted > ../../out/new; cd ../..; cd out && cat secret',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'a link that was in the workspace',
    script: 'cat door/secret; echo planted > door/new',
    proof: 'outside',
    stopped_by: ['private /tmp'],
    prepare: ({ workspace, out }) => symlinkSync(out, join(workspace, 'door')),
  },
  {
    id: 'a link made by the run',
    script: 'ln -s "$OUT" door && cat door/secret; ln -s "$OUT/new" file && echo planted > file',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'a hard link',
    script:
      'ln "$OUT/secret" hard && cat hard; ln "$OUT/secret" /tmp/hard && cat /tmp/hard; ln "$OUT/secret" "$OUT/hard" && cat "$OUT/hard"',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'by /proc/self/root, /proc/1/root, /proc/1/cwd',
    script: 'for way in self/root 1/root 1/cwd; do cat "/proc/$way$OUT/secret"; echo planted > "/proc/$way$OUT/new"; done',
    proof: 'secret',
    stopped_by: ['private /tmp'],
  },
  {
    id: 'by the folders of a process outside',
    script:
      'for way in root cwd fd/0; do cat "/proc/$VICTIM/$way/secret" "/proc/$VICTIM/$way$OUT/secret" "/proc/$SUPERVISOR/$way$OUT/secret"; done',
    proof: 'secret',
    stopped_by: ['the whole sandbox'],
  },
  {
    id: 'keys in the home',
    script: 'cat ~/.ssh/id_ed25519; cat "$PERSON/.ssh/id_ed25519"',
    proof: 'secret',
    stopped_by: ['private HOME'],
  },
  {
    id: 'start-up files of the home',
    script:
      'echo planted >> ~/.bashrc; echo "[core] fsmonitor = /tmp/x" >> ~/.gitconfig; mkdir -p ~/.config/systemd/user; echo planted > ~/.config/systemd/user/x.service',
    proof: 'outside',
    stopped_by: ['private HOME'],
  },
  {
    id: 'the Writ home, read',
    script: 'cat ~/.writ/key "$WRIT/key"',
    proof: 'secret',
    stopped_by: ['private HOME'],
    host_stops: ({ uid, self }) => (uid === self ? undefined : 'it belongs to Writ’s own user'),
  },
  {
    id: 'the Writ home, written',
    script: 'mkdir -p ~/.writ; echo planted > ~/.writ/planted; echo planted > "$WRIT/planted"',
    proof: 'outside',
    stopped_by: ['private HOME'],
    host_stops: ({ uid, self }) => (uid === self ? undefined : 'it belongs to Writ’s own user'),
  },
  {
    id: '/etc/shadow',
    script: 'head -c 1 /etc/shadow >/dev/null && won shadow; head -c 1 /etc/sudoers > /dev/null && won sudoers',
    proof: 'claim',
    stopped_by: ['selected /etc'],
    host_stops: onlyRoot,
  },
  {
    id: 'system programs, written',
    script: 'appends /usr/bin/perl && won perl; appends /usr/lib/os-release && won release',
    proof: 'claim',
    stopped_by: ['read-only system'],
    host_stops: onlyRoot,
  },
  {
    id: 'new names in the root',
    script: 'mkdir /planted && won folder; : > /run/planted && won run',
    proof: 'claim',
    stopped_by: ['sealed root'],
  },
  {
    id: 'new names in /dev',
    script: ': > /dev/planted && won file',
    proof: 'claim',
    stopped_by: ['sealed /dev'],
  },
  {
    id: 'devices of the host',
    script:
      'for one in kmsg loop-control mem kvm fuse net/tun vsock userfaultfd vda sda nvme0 tty1 hwrng; do opens "/dev/$one" && won "$one"; done',
    proof: 'claim',
    stopped_by: ['own /dev'],
    host_stops: ({ open }) =>
      ['fuse', 'net/tun', 'vsock', 'kmsg'].some((one) => open(`/dev/${one}`)) ? undefined : 'its devices are for root',
  },
  {
    id: 'a device node',
    script: 'mknod device c 1 3 && won character; mknod "/tmp/$ESCAPE_TAG" b 7 0 && won block; rm -f device "/tmp/$ESCAPE_TAG"',
    proof: 'claim',
    stopped_by: ['the whole sandbox'],
    host_stops: ({ uid }) => (uid === 0 ? undefined : 'making devices needs a capability on the host'),
  },
  {
    id: 'kernel settings, core_pattern',
    script: 'for one in kernel/core_pattern kernel/modprobe vm/swappiness kernel/hostname; do appends "/proc/sys/$one" && won "$one"; done',
    proof: 'claim',
    stopped_by: ['covers in /proc'],
    host_stops: onlyRoot,
  },
  {
    id: 'switches in /proc (sysrq-trigger, acpi, ...)',
    script: `appends /proc/sysrq-trigger && won sysrq
      while read -r file; do
        [[ $file =~ ^/proc/([0-9]|self|thread-self|net/|mounts|pressure/) ]] || ! appends "$file" || won "$file"
      done < <(find /proc -xdev -maxdepth 4 -path '/proc/[0-9]*' -prune -o -type f -perm /222 -print 2>/dev/null)`,
    proof: 'claim',
    stopped_by: ['covers in /proc'],
    host_stops: onlyRoot,
  },
  {
    id: 'kernel memory and keys in /proc',
    script: `for one in keys key-users kcore timer_list kmsg kpagecount kpageflags vmallocinfo slabinfo pagetypeinfo; do
        [[ $(head -c 1 "/proc/$one" | tr '\\0' z) ]] && won "$one"
      done`,
    proof: 'claim',
    stopped_by: ['covers in /proc'],
    host_stops: onlyRoot,
  },
  {
    id: 'settings in /sys, control groups',
    script: `for one in kernel/uevent_helper kernel/mm/ksm/run power/state fs/cgroup/cgroup.procs fs/cgroup/*/cgroup.procs; do
        appends "/sys/$one" && won "$one"
      done; [[ -e /sys/kernel || -e /sys/fs ]] && won seen`,
    proof: 'claim',
    stopped_by: ['hidden /sys'],
  },
  {
    id: 'shared memory of the host',
    script: 'cat "$SHM_FILE"; cat /dev/shm/writ-escape-*',
    proof: 'secret',
    stopped_by: ['own /dev/shm'],
  },
  {
    id: 'System V shared memory',
    script: `perl -e 'shmread($ARGV[0], my $text, 0, 64) or die "$!"; print $text' "$SHM_ID"`,
    proof: 'secret',
    stopped_by: ['IPC namespace'],
  },
  {
    id: 'secrets in the environment',
    script: 'env; cat /proc/self/environ /proc/1/environ /proc/*/environ',
    proof: 'secret',
    stopped_by: ['chosen environment'],
  },
  {
    id: 'a library by the host’s LD_PRELOAD',
    script: 'for name in LD_PRELOAD BASH_ENV NODE_OPTIONS PERL5OPT; do [[ -v $name ]] && won "$name"; done; exit 0',
    proof: 'claim',
    stopped_by: ['chosen environment'],
  },
  {
    id: 'the environment of processes outside',
    script: 'cat "/proc/$VICTIM/environ" "/proc/$SUPERVISOR/environ"',
    proof: 'secret',
    stopped_by: ['the whole sandbox'],
  },
  {
    id: 'a descriptor that the supervisor left open',
    script:
      'ls "/proc/$$/fd" > open; for fd in $(<open); do ((fd > 2)) && won "descriptor $fd" && cat <&"$fd"; done; { echo x >&6; } && won gate; exit 0',
    proof: 'secret',
    stopped_by: ['start gate'],
    between: (plan, scene) => ({
      ...plan,
      bwrap: scene.file(
        join(scene.outside.base, 'leaky-bwrap'),
        `#!/bin/bash\nexec 17<'${scene.out}/secret'\nexec ${plan.bwrap} "$@"\n`,
        0o755,
      ),
    }),
  },
  {
    id: 'a setuid program, file capabilities',
    script: '[[ $(./id -u) == $(id -u) ]] || won "$(./id -u)"; ./id -u; id -u',
    proof: 'claim',
    stopped_by: ['the whole sandbox'],
    host_stops: ({ uid, self }) => (self === 0 && uid !== 0 ? undefined : 'only root can leave a setuid program of root for somebody else'),
    prepare({ workspace }) {
      copyFileSync('/usr/bin/id', join(workspace, 'id'));
      chmodSync(join(workspace, 'id'), 0o4755);
    },
  },
];
