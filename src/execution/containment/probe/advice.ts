import { readFileSync } from 'node:fs';

export interface Advice {
  readonly cause: string;
  readonly fix: string;
}

/** Settings of this kernel that decide about user namespaces. Undefined: the kernel doesn't have it. */
export interface KernelSettings {
  readonly apparmor_restrict?: string;
  readonly userns_clone?: string;
  readonly max_user_namespaces?: string;
}

function setting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function kernelSettings(): KernelSettings {
  const apparmor_restrict = setting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns');
  const userns_clone = setting('/proc/sys/kernel/unprivileged_userns_clone');
  const max_user_namespaces = setting('/proc/sys/user/max_user_namespaces');
  return {
    ...(apparmor_restrict === undefined ? {} : { apparmor_restrict }),
    ...(userns_clone === undefined ? {} : { userns_clone }),
    ...(max_user_namespaces === undefined ? {} : { max_user_namespaces }),
  };
}

const APPARMOR: Advice = {
  cause:
    'AppArmor on this system lets only named programs use user namespaces, and bubblewrap is not one of them (Ubuntu 24.04 and later).',
  fix: [
    'As root, allow it for bubblewrap alone:',
    "  printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' > /etc/apparmor.d/bwrap",
    '  apparmor_parser -r /etc/apparmor.d/bwrap',
  ].join('\n'),
};
const USERNS_OFF: Advice = {
  cause: 'This kernel has user namespaces switched off for ordinary users.',
  fix: 'As root: sysctl -w kernel.unprivileged_userns_clone=1 (and the same line in /etc/sysctl.d/ to keep it).',
};
const USERNS_LIMIT: Advice = {
  cause: 'The limit of user namespaces is used up or set to 0.',
  fix: 'As root: sysctl -w user.max_user_namespaces=15000 (and the same line in /etc/sysctl.d/ to keep it).',
};
const IN_CONTAINER: Advice = {
  cause: 'Writ runs in a container that does not let it make namespaces or mounts.',
  fix: 'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or run Writ on the host.',
};
const TOO_OLD: Advice = {
  cause: 'This bubblewrap is too old: 0.8.0 or newer is needed.',
  fix: 'Install a newer one (Debian 12, Ubuntu 24.04, Fedora 38 and later have it), or name it in the configuration.',
};

/** bubblewrap's own messages (bubblewrap.c, `die_with_error`), from the most telling to the least. */
const MESSAGES: readonly { readonly match: RegExp; readonly advice: (kernel: KernelSettings) => Advice }[] = [
  { match: /Unknown option/i, advice: () => TOO_OLD },
  { match: /No space left on device|ENOSPC/, advice: () => USERNS_LIMIT },
  { match: /RTM_NEWADDR|loopback: Failed/, advice: ({ apparmor_restrict }) => (apparmor_restrict === '0' ? IN_CONTAINER : APPARMOR) },
  { match: /uid map|gid map|new namespace|Creating new namespace|unshare/i, advice: whyNoNamespace },
  { match: /slave|mount proc|proc on|pivot_root|remount|bind mount/i, advice: () => IN_CONTAINER },
];

function whyNoNamespace(kernel: KernelSettings): Advice {
  if (kernel.apparmor_restrict === '1') return APPARMOR;
  if (kernel.userns_clone === '0') return USERNS_OFF;
  return kernel.max_user_namespaces === '0' ? USERNS_LIMIT : IN_CONTAINER;
}

/** What a failed start of bubblewrap means, and what a person does about it. */
export function adviceFor(stderr: string, kernel: KernelSettings): Advice {
  const known = MESSAGES.find(({ match }) => match.test(stderr));
  if (known) return known.advice(kernel);
  return {
    cause: 'bubblewrap could not build the sandbox.',
    fix: 'The detail says what it ran into. Try: bwrap --unshare-all --ro-bind / / true',
  };
}
