import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import {
  CLONE_NEW,
  CLONE_NEWTIME,
  DENIED,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  SOCKET_FAMILIES,
  TERMINAL_IOCTLS,
} from '../containment/seccomp/syscalls.ts';
import { placeFile } from '../jobs/json-file.ts';

interface Argument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ';
}

const refuse = (names: readonly string[], errnoRet: number, args: readonly Argument[] = []): object => ({
  names,
  action: 'SCMP_ACT_ERRNO',
  errnoRet,
  args,
});

const bitsOf = (mask: number): readonly number[] => Array.from({ length: 31 }, (_, bit) => 2 ** bit).filter((bit) => (mask & bit) !== 0);
const anyBit = (name: string, mask: number): readonly object[] =>
  bitsOf(mask).map((bit) => refuse([name], EPERM, [{ index: 0, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' }]));

/** The table of containment/seccomp in the format of the engines: Podman's own profile lets user namespaces be made. */
function seccompProfile(nested_userns: boolean): object {
  const last = Math.max(...SOCKET_FAMILIES);
  const others = Array.from({ length: last }, (_, family) => family).filter((family) => !SOCKET_FAMILIES.some((one) => one === family));
  const LOW_HALF = 0xffff_ffff;
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: [process.arch === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
    syscalls: [
      refuse(
        DENIED.map(({ name }) => name),
        EPERM,
      ),
      ...(nested_userns
        ? []
        : [
            refuse(['chroot'], EPERM),
            // Its flags lie behind a pointer; "no such call" makes the C library fall back to clone.
            refuse(['clone3'], ENOSYS),
            ...anyBit('clone', CLONE_NEW),
            ...anyBit('unshare', CLONE_NEW | CLONE_NEWTIME),
          ]),
      ...others.map((family) => refuse(['socket'], EAFNOSUPPORT, [{ index: 0, value: family, op: 'SCMP_CMP_EQ' }])),
      refuse(['socket'], EAFNOSUPPORT, [{ index: 0, value: last, op: 'SCMP_CMP_GT' }]),
      ...TERMINAL_IOCTLS.map((request) =>
        refuse(['ioctl'], EPERM, [{ index: 1, value: LOW_HALF, valueTwo: request, op: 'SCMP_CMP_MASKED_EQ' }]),
      ),
    ],
  };
}

/** A file for the engine, named by its content, so that it never changes under a run. */
export function writeSeccompProfile(home: string, nested_userns: boolean): string {
  const text = JSON.stringify(seccompProfile(nested_userns));
  const folder = join(home, 'containers');
  const path = join(folder, `seccomp-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    placeFile(path, text, { durable: false });
  } catch (thrown) {
    // From an earlier process: the name says what is in it.
    if (errnoOf(thrown) !== 'EEXIST') throw thrown;
  }
  return path;
}
