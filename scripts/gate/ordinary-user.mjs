import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../bootstrap/checkout.mjs';
import { run } from '../bootstrap/run.mjs';
import { MOUNT_MEMORY_DISK, OWN_MOUNTS } from './memory-disk.mjs';

const NAME = 'writ-test';
/** Above the range that adduser hands out to people. */
const FIRST_UID = 61_000;
/** What such a user has of root's environment; XDG folders, TMPDIR and the like are root's own. */
const KEPT = /^(LANG|LC_\w+|TZ|TERM|CI|NO_COLOR|FORCE_COLOR|NODE_EXTRA_CA_CERTS)$/;

/**
 * Runs `work` with what it takes to start a command as an ordinary user of this machine. The user exists only inside a mount
 * namespace: a passwd and a group file with one more line are bound over the real ones there, so nothing is left behind. A checkout
 * in a folder that the user can't enter (/root), or a Node there, is bound to a place that it can.
 */
export async function asOrdinaryUser({ node, env }, work) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-u-'));
  chmodSync(folder, 0o755);
  try {
    const uid = freeUid();
    const home = join(folder, 'home');
    const temporary = join(folder, 'tmp');
    mkdirSync(home, { mode: 0o700 });
    mkdirSync(temporary);
    chownSync(home, uid, uid);
    writeFileSync(join(folder, 'passwd'), `${readFileSync('/etc/passwd', 'utf8')}${NAME}:x:${uid}:${uid}::${home}:/bin/bash\n`, {
      mode: 0o644,
    });
    writeFileSync(join(folder, 'group'), `${readFileSync('/etc/group', 'utf8')}${NAME}:x:${uid}:\n`, { mode: 0o644 });
    await makeReadable();
    const binds = [
      [join(folder, 'passwd'), '/etc/passwd'],
      [join(folder, 'group'), '/etc/group'],
    ];
    const place = reachable(ROOT) ? ROOT : join(folder, 'checkout');
    if (place !== ROOT) {
      mkdirSync(place);
      binds.push([ROOT, place]);
    }
    const program = join(folder, 'bin', 'node');
    if (!node.startsWith(ROOT) && !reachable(node)) {
      mkdirSync(dirname(program));
      writeFileSync(program, '');
      binds.push([node, program]);
    }
    return await work({
      cwd: ROOT,
      base: place,
      results: join(home, 'tests.json'),
      env: {
        ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
        PATH: `${dirname(program)}:${env.PATH?.replaceAll(ROOT, place)}`,
        HOME: home,
        TMPDIR: temporary,
        SHELL: '/bin/bash',
        USER: NAME,
        LOGNAME: NAME,
        WRIT_TEST_CACHE: join(home, '.cache'),
        // The pass before has shown that each control matters.
        WRIT_TEST_AGAIN: '1',
      },
      around: (argv) => [...ENTER, temporary, place, String(uid), String(binds.length), ...binds.flat(), ...argv],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Arguments: folder for a disk in memory, folder to work in, uid, number of binds, a pair for each, then the command. */
const ENTER = [
  ...OWN_MOUNTS,
  `set -e
${MOUNT_MEMORY_DISK} "$1"
place=$2 uid=$3 binds=$4
shift 4
while [ "$binds" -gt 0 ]; do
  mount --bind "$1" "$2"
  shift 2
  binds=$((binds - 1))
done
cd "$place"
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all -- "$@"`,
  'sh',
];

function freeUid() {
  const taken = new Set([...readFileSync('/etc/passwd', 'utf8').matchAll(/^[^:]*:[^:]*:(\d+):/gm)].map((match) => Number(match[1])));
  let uid = FIRST_UID;
  while (taken.has(uid)) uid += 1;
  return uid;
}

/** May anybody walk down to this file or folder? */
function reachable(path) {
  const open = (statSync(path).mode & 0o001) !== 0;
  return open && (path === dirname(path) || reachable(dirname(path)));
}

/** A clone made under umask 077 is opened for reading, its .git excepted. */
async function makeReadable() {
  if ((statSync(ROOT).mode & 0o005) === 0o005 && (statSync(join(ROOT, 'package.json')).mode & 0o004) !== 0) return;
  console.log('Making the files of this checkout readable for other users (all but .git), for the tests as an ordinary user.');
  const parts = readdirSync(ROOT).filter((name) => name !== '.git');
  await run(['chmod', '-R', 'go+rX', ...parts], { cwd: ROOT });
  await run(['chmod', 'go+rx', '.'], { cwd: ROOT });
}
