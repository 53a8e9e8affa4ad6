import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Mount, within } from './mount.ts';

/** The host's root is never bound whole: these folders, read-only, and nothing else of it. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt'] as const;

/**
 * What tools read of /etc. Names or patterns; whatever isn't here (shadow, sudoers, ssh host keys, machine-id, cron, pam.d,
 * system git, npm and pip configuration with their tokens) doesn't exist inside. passwd, group, gitconfig, npmrc, pip.conf and
 * ssh/ssh_known_hosts are generated, see private-folders.ts.
 */
const ETC_ENTRIES: readonly (string | RegExp)[] = [
  // names and addresses
  'hosts',
  'host.conf',
  'resolv.conf',
  'nsswitch.conf',
  'gai.conf',
  'networks',
  'protocols',
  'services',
  'rpc',
  'ethertypes',
  // the dynamic linker and the choice between versions
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  // certificates, public halves only: ssl/private is not in it
  'ssl/certs',
  'ssl/openssl.cnf',
  'ssl/cert.pem',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'pki/tls/openssl.cnf',
  'pki/ca-trust',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  // the system's own description
  'localtime',
  'timezone',
  'locale.conf',
  'locale.alias',
  'default/locale',
  'os-release',
  'lsb-release',
  'debian_version',
  'redhat-release',
  'fedora-release',
  'alpine-release',
  'login.defs',
  'shells',
  // shells and terminals
  'profile',
  'profile.d',
  'bash.bashrc',
  'bashrc',
  'bash_completion.d',
  'zsh',
  'inputrc',
  'terminfo',
  'skel',
  'vim',
  'nanorc',
  // languages and tools that keep part of themselves here
  /^java(-\d+)?(-openjdk)?$/,
  'maven',
  'gradle',
  'perl',
  /^python\d(\.\d+)?$/,
  'php',
  'R',
  'emacs',
  'fonts',
  'ImageMagick-6',
  'ImageMagick-7',
  'magic',
  'magic.mime',
  'mime.types',
  'mailcap',
  'papersize',
  'xml',
  'sgml',
  'groff',
  'manpath.config',
  'texmf',
  'ssh/ssh_config',
  'ssh/ssh_config.d',
  'wgetrc',
  'debuginfod',
  'gdb',
  'glvnd',
  'OpenCL',
  'vulkan',
];

async function exactEntries(): Promise<readonly string[]> {
  const present = await readdir('/etc').catch(() => []);
  const names = ETC_ENTRIES.flatMap((entry) => (typeof entry === 'string' ? [entry] : present.filter((name) => entry.test(name))));
  return names.map((name) => join('/etc', name));
}

/** A folder or file of the host as it looks there: a link stays a link while its target is visible inside too. */
async function asOnHost(path: string): Promise<Mount | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) return undefined;
  if (!stat.isSymbolicLink())
    return stat.isSocket() ? undefined : { kind: 'bind', source: path, dest: path, access: 'read', optional: true };
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  if (SYSTEM_FOLDERS.some((folder) => within(real, folder))) return { kind: 'symlink', target: await readlink(path), dest: path };
  return { kind: 'bind', source: real, dest: path, access: 'read', optional: true };
}

/** /usr and its relatives, and the table above. Gathered once per process: it changes with package installs only. */
export async function systemMounts(): Promise<readonly Mount[]> {
  const found = await Promise.all([...SYSTEM_FOLDERS, ...(await exactEntries())].map(asOnHost));
  return found.filter((mount) => mount !== undefined);
}
