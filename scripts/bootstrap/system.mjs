import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.mjs';
import { say, step } from './say.mjs';

/** Programs outside npm, the package that brings each (the same name in the big distributions), and what needs it. */
const PROGRAMS = [
  { program: 'bwrap', package: 'bubblewrap', for: ['start', 'test'] },
  { program: 'git', package: 'git', for: ['test'] },
  { program: 'ps', package: 'procps', for: ['test'] },
  // A client for the proxy of a run, and a certificate for its upstream.
  { program: 'curl', package: 'curl', for: ['test'] },
  { program: 'openssl', package: 'openssl', for: ['test'] },
  // Only root runs the tests a second time, as an ordinary user.
  { program: 'setpriv', package: 'util-linux', for: ['test'], root: true },
  { program: 'unshare', package: 'util-linux', for: ['test'], root: true },
  { program: 'mount', package: 'mount', for: ['test'], root: true },
  // What the tests go without where it can't be installed: those that need it are skipped by name.
  { program: 'chromium', package: 'chromium', for: ['test'], spare: true },
  { program: 'podman', package: 'podman', for: ['test'], root: true, spare: true },
  { program: 'runc', package: 'runc', for: ['test'], root: true, spare: true },
  { program: 'busybox', package: 'busybox-static', for: ['test'], root: true, spare: true },
  // Root may use it without a rule of anybody's: none is added.
  { program: 'sudo', package: 'sudo', for: ['test'], root: true, spare: true },
];

/** Other package managers are only named to the reader, never run. */
const ELSEWHERE = [
  { program: 'dnf', line: 'sudo dnf install' },
  { program: 'zypper', line: 'sudo zypper install' },
  { program: 'pacman', line: 'sudo pacman -S' },
  { program: 'apk', line: 'sudo apk add' },
];

/**
 * Installs the missing programs by apt-get where that takes no question (root, or sudo without a password, on Debian or Ubuntu);
 * says exactly what to run elsewhere.
 * @param {'start' | 'test'} purpose
 * @returns {Promise<string[]>} packages still missing
 */
export async function installPrograms(purpose) {
  if (process.platform !== 'linux') {
    say('Containment works on Linux only; on this system the shell and job tools will refuse, everything else works.');
    return [];
  }
  const missing = missingPackages(purpose);
  if (missing.length === 0) return [];
  const needed = missingPackages(purpose, { spare: false });
  const privilege = isDebian() && onPath('apt-get') ? await withoutQuestion() : undefined;
  if (privilege === undefined) {
    const what = needed.length > 0 ? 'Run this once, then try again' : 'Some tests will be skipped. To run them too';
    say(`Missing: ${missing.join(', ')}. ${what}:\n\n  ${installLine(missing)}\n`);
    return needed;
  }
  const apt = (...args) => run([...privilege, 'apt-get', '-q', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args], { quiet: true });
  const install = () => apt('install', '--no-install-recommends', ...missing);
  const { code, tail } = await step(`Installing ${missing.join(', ')} with apt-get`, async () => {
    const first = await install();
    if (first.code === 0) return first;
    // A machine that was never updated has no list of packages, or an old one.
    await apt('update');
    return install();
  });
  const still = missingPackages(purpose);
  if (still.length > 0)
    say(
      `apt-get did not bring ${still.join(', ')} (exit ${code}):\n${tail}\nRun this yourself, then try again:\n\n  ${installLine(still)}\n`,
    );
  return missingPackages(purpose, { spare: false });
}

function missingPackages(purpose, { spare = true } = {}) {
  const isRoot = process.getuid() === 0;
  const needed = PROGRAMS.filter((entry) => entry.for.includes(purpose) && (isRoot || !entry.root) && (spare || !entry.spare));
  return [...new Set(needed.filter((entry) => !onPath(entry.program)).map((entry) => entry.package))];
}

/** @returns {Promise<string[] | undefined>} what to put before apt-get; undefined when it would have to ask for a password */
async function withoutQuestion() {
  if (process.getuid() === 0) return ['env', 'DEBIAN_FRONTEND=noninteractive'];
  const sudo = onPath('sudo') && (await run(['sudo', '-n', 'true'], { quiet: true })).code === 0;
  return sudo ? ['sudo', '-n', 'env', 'DEBIAN_FRONTEND=noninteractive'] : undefined;
}

function installLine(packages) {
  const other = isDebian() ? undefined : ELSEWHERE.find(({ program }) => onPath(program));
  return `${other?.line ?? 'sudo apt-get install -y'} ${packages.join(' ')}`;
}

function isDebian() {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

/** Administrators' programs are often off an ordinary user's PATH. */
function onPath(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
