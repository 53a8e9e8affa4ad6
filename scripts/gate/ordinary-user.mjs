import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../bootstrap/checkout.mjs';
import { run } from '../bootstrap/run.mjs';

const NAME = 'writ-test';
/** Above the range that adduser hands out to people. */
const FIRST_UID = 61_000;

/**
 * Runs `work` with what it takes to start a command as an ordinary user of this machine. The user exists only inside a mount
 * namespace: a passwd and a group file with one more line are bound over the real ones there, so nothing is left behind. A checkout
 * in a folder that the user can't enter (/root) is bound to a place that it can.
 */
export async function asOrdinaryUser(env, work) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-ordinary-'));
  chmodSync(folder, 0o755);
  try {
    const uid = freeUid();
    const home = join(folder, 'home');
    const owned = [home, join(folder, 'tmp'), join(folder, 'results')];
    for (const path of owned) {
      mkdirSync(path, { mode: 0o700 });
      chownSync(path, uid, uid);
    }
    writeFileSync(join(folder, 'passwd'), `${readFileSync('/etc/passwd', 'utf8')}${NAME}:x:${uid}:${uid}::${home}:/bin/bash\n`, {
      mode: 0o644,
    });
    writeFileSync(join(folder, 'group'), `${readFileSync('/etc/group', 'utf8')}${NAME}:x:${uid}:\n`, { mode: 0o644 });
    const place = reachable(ROOT) ? ROOT : join(folder, 'checkout');
    if (place !== ROOT) mkdirSync(place);
    await makeReadable();
    const there = (value) => value?.replaceAll(ROOT, place);
    return await work({
      cwd: ROOT,
      results: join(folder, 'results', 'tests.json'),
      env: {
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, there(value)])),
        HOME: home,
        USER: NAME,
        LOGNAME: NAME,
        TMPDIR: join(folder, 'tmp'),
        WRIT_TEST_CACHE: join(folder, 'tmp', 'cache'),
      },
      around: (argv) => [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        ENTER,
        'sh',
        folder,
        ROOT,
        place,
        String(uid),
        ...argv,
      ],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ENTER = `set -e
folder=$1 root=$2 place=$3 uid=$4
shift 4
mount --bind "$folder/passwd" /etc/passwd
mount --bind "$folder/group" /etc/group
[ "$root" = "$place" ] || mount --bind "$root" "$place"
cd "$place"
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all -- "$@"`;

function freeUid() {
  const taken = new Set([...readFileSync('/etc/passwd', 'utf8').matchAll(/^[^:]*:[^:]*:(\d+):/gm)].map((match) => Number(match[1])));
  let uid = FIRST_UID;
  while (taken.has(uid)) uid += 1;
  return uid;
}

/** May anybody walk down to this folder? */
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
