import {
  type Arch,
  AUDIT_ARCH,
  CLONE_NEW,
  CLONE_NEWTIME,
  DENIED,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  JUDGED,
  SOCKET_FAMILIES,
  TERMINAL_IOCTLS,
} from './syscalls.ts';

/** One instruction of classic BPF (linux/filter.h): `struct sock_filter`. */
interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offset });
const jumpIfEqual = (k: number, jt: number, jf: number): Instruction => ({ code: 0x15, jt, jf, k });
const jumpIfAtLeast = (k: number, jt: number, jf: number): Instruction => ({ code: 0x35, jt, jf, k });
const jumpIfAnyBit = (k: number, jt: number, jf: number): Instruction => ({ code: 0x45, jt, jf, k });
const answer = (k: number): Instruction => ({ code: 0x06, jt: 0, jf: 0, k });

const ALLOW = answer(0x7fff0000);
const refuse = (errno: number): Instruction => answer(0x0005_0000 | errno);

// struct seccomp_data, little-endian: nr, arch, instruction pointer, six 64-bit arguments. Only the low half of an argument is
// read: the kernel itself looks at 32 bits of flags, families and ioctl numbers, so garbage above must not hide a match.
const NR = 0;
const ARCH = 4;
const lowHalf = (argument: number): number => 16 + 8 * argument;

/** Judges one call by an argument. Every path through `body` ends in an answer. */
const judge = (nr: number, argument: number, body: readonly Instruction[]): readonly Instruction[] => [
  jumpIfEqual(nr, 0, body.length + 1),
  load(lowHalf(argument)),
  ...body,
];

const refuseBits = (mask: number): readonly Instruction[] => [jumpIfAnyBit(mask, 0, 1), refuse(EPERM), ALLOW];

/** The filter of a run. `nested_userns`: a browser may unshare and chroot for its own sandbox; mounts stay refused. */
function instructions(arch: Arch, nestedUserns: boolean): readonly Instruction[] {
  const call = JUDGED[arch];
  const program: Instruction[] = [load(ARCH), jumpIfEqual(AUDIT_ARCH[arch], 1, 0), refuse(ENOSYS), load(NR)];
  // The x32 calls of x86_64 have this bit and numbers of their own, which would slip past the table.
  if (arch === 'x64') program.push(jumpIfAtLeast(0x4000_0000, 0, 1), refuse(EPERM));
  for (const denied of DENIED) {
    const nr = denied[arch];
    if (nr !== undefined) program.push(jumpIfEqual(nr, 0, 1), refuse(EPERM));
  }
  if (!nestedUserns) {
    program.push(jumpIfEqual(call.chroot, 0, 1), refuse(EPERM));
    // clone3 takes its flags by pointer, which BPF can't follow; "no such call" makes the C library fall back to clone.
    program.push(jumpIfEqual(call.clone3, 0, 1), refuse(ENOSYS));
    program.push(...judge(call.clone, 0, refuseBits(CLONE_NEW)));
    program.push(...judge(call.unshare, 0, refuseBits(CLONE_NEW | CLONE_NEWTIME)));
  }
  const families = SOCKET_FAMILIES.map((family, index) => jumpIfEqual(family, SOCKET_FAMILIES.length - index, 0));
  program.push(...judge(call.socket, 0, [...families, refuse(EAFNOSUPPORT), ALLOW]));
  const ioctls = TERMINAL_IOCTLS.map((request, index) => jumpIfEqual(request, TERMINAL_IOCTLS.length - index, 0));
  program.push(...judge(call.ioctl, 1, [...ioctls, ALLOW, refuse(EPERM)]));
  program.push(ALLOW);
  return program;
}

/** The bytes for `--seccomp FD`, or nothing on an architecture without a table. */
export function seccompFilter(arch: string, nestedUserns: boolean): Uint8Array {
  if (arch !== 'x64' && arch !== 'arm64') return new Uint8Array(0);
  const program = instructions(arch, nestedUserns);
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach((one, index) => {
    bytes.setUint16(index * 8, one.code, true);
    bytes.setUint8(index * 8 + 2, one.jt);
    bytes.setUint8(index * 8 + 3, one.jf);
    bytes.setUint32(index * 8 + 4, one.k >>> 0, true);
  });
  return new Uint8Array(bytes.buffer);
}
