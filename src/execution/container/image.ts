import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AppError } from '../../kernel/errors.ts';
import { systemMounts } from '../containment/system-mounts.ts';
import { callEngine, complaint } from './engine.ts';
import { makeTar, type TarEntry } from './image-tar.ts';
import { pinImage } from './pins.ts';
import { writeSeccompProfile } from './seccomp-profile.ts';
import type { Engine, Target } from './types.ts';

/** Folders of the empty image; what a run sees in them is mounted. Mount points that are missing are made by the engine. */
const FOLDERS = ['etc', 'run', 'var', 'var/lib', 'var/cache', 'var/log', 'proc', 'sys', 'dev', 'usr'] as const;
const OTHERS: readonly TarEntry[] = [
  // A file system in memory takes the mode of the folder that it covers.
  { path: 'tmp', shared: true },
  { path: 'var/run', link: '/run' },
  { path: 'var/tmp', link: '/tmp' },
];

/** What runs are made of. AppError backend_unavailable, with the fix, when the image isn't there or isn't what it was. */
export async function findTarget(engine: Engine, image: string | undefined, home: string, now: number): Promise<Target> {
  const reference = image ?? (await makeSystemImage(engine));
  const found = await digestOf(engine, reference);
  if (found === undefined) {
    throw new AppError('backend_unavailable', `${engine.kind} has no image ${reference} on this machine.`, {
      fix: `Fetch or build it first: ${engine.kind} pull ${reference}`,
    });
  }
  pinImage(home, `${engine.kind} ${reference}`, found, now);
  const seccomp = { plain: writeSeccompProfile(home, false), nested: writeSeccompProfile(home, true) };
  return {
    engine,
    image: found,
    mountinfo: readFileSync('/proc/self/mountinfo', 'utf8'),
    seccomp,
    ...(image === undefined ? {} : { named: image }),
  };
}

/** Its name tells its content, so that it is made once an engine and shape of the machine. */
async function makeSystemImage(engine: Engine): Promise<string> {
  const links = systemMounts().flatMap((mount) => (mount.kind === 'symlink' ? [{ path: mount.dest.slice(1), link: mount.target }] : []));
  const tar = makeTar([...FOLDERS.map((path) => ({ path })), ...OTHERS, ...links]);
  const reference = `localhost/writ-system:${createHash('sha256').update(tar).digest('hex').slice(0, 16)}`;
  if ((await digestOf(engine, reference)) !== undefined) return reference;
  const made = await callEngine(engine, ['import', '-', reference], { input: tar });
  if (made.code === 0) return reference;
  throw new AppError('backend_unavailable', `${engine.kind} could not take the image of the system: ${complaint(made.stderr)}`, {
    fix: `See whether \`${engine.kind} info\` works for this user and whether its disk is full.`,
  });
}

async function digestOf(engine: Engine, reference: string): Promise<string | undefined> {
  const answer = await callEngine(engine, ['image', 'inspect', '--format', '{{.Id}}', reference]);
  const id = answer.stdout.trim().replace(/^(?:sha256:)?/, 'sha256:');
  return answer.code === 0 && /^sha256:[0-9a-f]{64}$/.test(id) ? id : undefined;
}
