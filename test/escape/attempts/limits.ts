import type { Attempt } from '../attempt.ts';
import { LIMITS } from '../scene.ts';

const MIB = 2 ** 20;

/** Using up the machine. */
export const RESOURCES: readonly Attempt[] = [
  {
    id: 'a fork bomb',
    script: `perl -e 'my $n = 0; for (1..120) { my $p = fork; last unless defined $p; if (!$p) { sleep 300; exit } $n++ } print "$ARGV[0] $n\\n" if $n == 120; kill 9, -$$' "$CLAIM"`,
    proof: 'claim',
    stopped_by: ['limits'],
    needs: 'pids',
    spec: { limits: { ...LIMITS, pids: 40 } },
  },
  {
    id: 'a memory bomb',
    script: `perl -e 'my $x = "a" x 300_000_000; print length($x) == 300_000_000 ? "$ARGV[0] memory\\n" : ""' "$CLAIM"`,
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, memory_bytes: 64 * MIB } },
  },
  {
    id: 'a memory bomb of many processes',
    script: `for i in {1..6}; do perl -e 'my $x = "a" x 40_000_000; sleep 1; print "one\\n"' & done > all; wait; (($(grep -c one all) == 6)) && won memory; exit 0`,
    proof: 'claim',
    stopped_by: ['limits'],
    needs: 'memory',
    spec: { limits: { ...LIMITS, memory_bytes: 100 * MIB } },
  },
  {
    id: 'every file descriptor',
    script: 'for i in {1..150}; do exec {fd}</dev/null || exit 0; done; won descriptors',
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, open_files: 100 } },
  },
  {
    id: 'a huge file',
    script:
      'head -c 5000000 /dev/zero > huge; truncate -s 1T sparse; for file in huge sparse; do (($(stat -c %s $file) > 1048576)) && won $file; done; exit 0',
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, file_bytes: MIB } },
  },
  {
    id: 'filling the disk from /tmp and HOME',
    script: `for i in {1..60}; do head -c 1000000 /dev/zero > "/tmp/fill$i"; head -c 1000000 /dev/zero > ~/fill$i; sleep 0.02; done; won filled; rm -f /tmp/fill* ~/fill*`,
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, disk_bytes: 16 * MIB } },
  },
  {
    id: 'filling the disk in a folder that can’t be listed',
    script: `mkdir -p /tmp/closed; chmod 300 /tmp/closed; for i in {1..36}; do head -c 2000000 /dev/zero > /tmp/closed/fill$i; sleep 0.03; done; won filled; chmod 700 /tmp/closed; rm -r /tmp/closed`,
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, disk_bytes: 16 * MIB } },
  },
  {
    id: 'filling the disk with files that have no name',
    script: `for i in {1..36}; do exec {fd}>/tmp/fill && rm /tmp/fill; head -c 2000000 /dev/zero >&"$fd"; sleep 0.03; done; won filled; exit 0`,
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, disk_bytes: 16 * MIB } },
  },
  {
    id: 'a flood of output',
    script: `head -c 12000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero | tr '\\0' y >&2`,
    proof: 'claim',
    stopped_by: ['limits'],
    spec: { limits: { ...LIMITS, disk_bytes: 2 * MIB } },
    claims: ({ output }) => output.spooled_bytes > 2 * MIB || output.combined.head.length + output.combined.tail.length > MIB,
  },
  {
    id: 'a processor hog that ignores signals',
    script: `trap '' TERM INT HUP; until ((SECONDS >= 4)); do :; done; won "past the deadline"`,
    proof: 'claim',
    stopped_by: ['deadline'],
    spec: { timeout_ms: 300 },
    ends: 'timed_out',
  },
];
