import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import type { Host } from './attempt.ts';

/** `drop`: the uid that root gives its runs. */
export function hostFor(drop: number | undefined): Host {
  const self = process.getuid?.() ?? -1;
  return {
    self,
    uid: drop ?? self,
    arch: process.arch,
    has: {
      ipv6: existsSync('/proc/net/if_inet6') && readFileSync('/proc/net/if_inet6', 'utf8').includes(' lo'),
      interfaces: readFileSync('/proc/net/dev', 'utf8').trim().split('\n').length > 3,
      vsock: existsSync('/dev/vsock'),
    },
    sysctl(name) {
      const path = `/proc/sys/${name}`;
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined;
    },
    open(path) {
      try {
        if (drop === undefined) accessSync(path, constants.R_OK | constants.W_OK);
        return drop === undefined || (statSync(path).mode & 0o006) === 0o006;
      } catch {
        return false;
      }
    },
  };
}
