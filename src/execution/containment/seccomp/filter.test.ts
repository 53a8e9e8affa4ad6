import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { makeBed } from '../testing.ts';
import { seccompFilter } from './filter.ts';
import { type Arch, AUDIT_ARCH, DENIED, JUDGED } from './syscalls.ts';

const ALLOW = 0x7fff0000;
const errno = (n: number): number => 0x50000 | n;

/** A classic BPF machine, as far as the filter uses it: what the kernel would answer. */
function answer(program: Uint8Array, call: { arch: number; nr: number; args?: readonly bigint[] }): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.nr, true);
  data.setUint32(4, call.arch, true);
  for (const [index, value] of (call.args ?? []).entries()) data.setBigUint64(16 + 8 * index, value, true);
  const code = new DataView(program.buffer);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    if (at * 8 >= program.byteLength) throw new Error('ran off the end');
    const op = code.getUint16(at * 8, true);
    const k = code.getUint32(at * 8 + 4, true);
    const jump = (taken: boolean): void => {
      at += code.getUint8(at * 8 + (taken ? 2 : 3));
    };
    if (op === 0x06) return k;
    else if (op === 0x20) accumulator = data.getUint32(k, true);
    else if (op === 0x15) jump(accumulator === k);
    else if (op === 0x35) jump(accumulator >= k);
    else if (op === 0x45) jump((accumulator & k) !== 0);
    else throw new Error(`unknown instruction ${op}`);
  }
}

describe.each(['x64', 'arm64'] as const)('the filter of %s', (arch: Arch) => {
  const program = seccompFilter(arch, false);
  const nested = seccompFilter(arch, true);
  const ask = (nr: number, args: readonly bigint[] = [], filter = program): number => answer(filter, { arch: AUDIT_ARCH[arch], nr, args });
  const call = JUDGED[arch];

  it('is a whole number of instructions, and fewer than the kernel takes', () => {
    expect(program.byteLength % 8).toBe(0);
    expect(program.byteLength / 8).toBeLessThan(4096);
  });

  it('refuses everything in the table, with and without nesting', () => {
    for (const denied of DENIED) {
      const nr = denied[arch];
      if (nr === undefined) continue;
      expect([denied.name, ask(nr), ask(nr, [], nested)]).toEqual([denied.name, errno(1), errno(1)]);
    }
  });

  it('allows what programs live on, ptrace included', () => {
    const ordinary = arch === 'x64' ? [0, 1, 2, 9, 59, 61, 101, 257, 202] : [63, 64, 56, 222, 221, 260, 117, 98];
    for (const nr of ordinary) expect([nr, ask(nr)]).toEqual([nr, ALLOW]);
  });

  it('refuses other architectures', () => {
    for (const other of [0x40000003, 0xc000003e, 0xc00000b7].filter((one) => one !== AUDIT_ARCH[arch])) {
      expect(answer(program, { arch: other, nr: 0 })).toBe(errno(38));
    }
  });

  it('judges clone and unshare by the namespaces asked for', () => {
    expect(ask(call.clone, [0x11n])).toBe(ALLOW);
    expect(ask(call.clone, [0x3d0f00n])).toBe(ALLOW);
    expect(ask(call.clone, [0x10000011n])).toBe(errno(1));
    expect(ask(call.clone, [0xffff_ffff_1000_0011n])).toBe(errno(1));
    expect(ask(call.unshare, [0x400n])).toBe(ALLOW);
    for (const flag of [0x80n, 0x20000n, 0x02000000n, 0x04000000n, 0x08000000n, 0x10000000n, 0x20000000n, 0x40000000n]) {
      expect([flag, ask(call.unshare, [flag])]).toEqual([flag, errno(1)]);
    }
    expect(ask(call.clone3)).toBe(errno(38));
    expect(ask(call.chroot)).toBe(errno(1));
  });

  it('lets a browser nest where that was asked for', () => {
    expect(ask(call.clone, [0x10000011n], nested)).toBe(ALLOW);
    expect(ask(call.unshare, [0x10000000n], nested)).toBe(ALLOW);
    expect(ask(call.clone3, [], nested)).toBe(ALLOW);
    expect(ask(call.chroot, [], nested)).toBe(ALLOW);
  });

  it('knows four socket families', () => {
    for (let family = 0n; family < 50n; family++) {
      const allowed = [1n, 2n, 10n, 16n].includes(family);
      expect([family, ask(call.socket, [family])]).toEqual([family, allowed ? ALLOW : errno(97)]);
    }
  });

  it('refuses typing into a terminal, whatever is above the low 32 bits', () => {
    expect(ask(call.ioctl, [0n, 0x5401n])).toBe(ALLOW);
    for (const request of [0x5412n, 0x541cn, 0x1_0000_5412n, 0xffff_ffff_0000_5412n]) {
      expect([request, ask(call.ioctl, [0n, request])]).toEqual([request, errno(1)]);
    }
  });
});

it('refuses the x32 calls, and gives nothing for an architecture without a table', () => {
  expect(answer(seccompFilter('x64', false), { arch: AUDIT_ARCH.x64, nr: 0x4000_0000 })).toBe(errno(1));
  expect(seccompFilter('riscv64', false).byteLength).toBe(0);
});

// Perl is in the base system of Debian and speaks raw system calls.
const arch = process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;
const perl = ((): boolean => {
  try {
    execFileSync('/usr/bin/perl', ['-e', '1']);
    return true;
  } catch {
    return false;
  }
})();

it.runIf(arch && perl)('is what the kernel of this machine answers too', async () => {
  const bed = makeBed();
  try {
    const names = ['keyctl', 'bpf', 'io_uring_setup', 'perf_event_open', 'userfaultfd', 'setns', 'mount', 'open_by_handle_at'];
    const numbers = names.map((name) => DENIED.find((denied) => denied.name === name)?.[arch ?? 'x64']);
    const calls = numbers.map((nr) => `$r = syscall(${nr}, 0, 0, 0, 0, 0); print $r, " ", $!+0, "\\n";`);
    const { socket, ioctl, unshare } = JUDGED[arch ?? 'x64'];
    calls.push(`$r = syscall(${socket}, 40, 1, 0); print $r, " ", $!+0, "\\n";`);
    calls.push(`$r = syscall(${ioctl}, 0, 0x100005412, $b); print $r, " ", $!+0, "\\n";`);
    calls.push(`$r = syscall(${unshare}, 0x10000000); print $r, " ", $!+0, "\\n";`);
    calls.push(`$r = syscall(${socket}, 2, 1, 0); print $r > 0 ? "ok" : "no", "\\n";`);
    const { stdout } = await bed.run(`/usr/bin/perl -e '$b = "x"; ${calls.join(' ')}'`);
    expect(stdout.trim().split('\n')).toEqual([...names.map(() => '-1 1'), '-1 97', '-1 1', '-1 1', 'ok']);
  } finally {
    bed.remove();
  }
});
