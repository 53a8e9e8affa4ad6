import type { RunAs } from './run-as.ts';

export interface Person {
  /** The person's git identity, from their own configuration. */
  readonly git_name?: string;
  readonly git_email?: string;
  readonly git_default_branch?: string;
  /** Registry addresses of the person's npm and pip configuration, without credentials. */
  readonly npm_registries?: readonly (readonly [key: string, url: string])[];
  readonly pip_index?: string;
  /** Public host keys. */
  readonly known_hosts?: string;
}

/** Quoted for a git configuration file; control characters can't be told apart from syntax there, so they go. */
const gitValue = (value: string): string => `"${value.replace(/[\x00-\x1f\x7f]/g, ' ').replace(/[\\"]/g, '\\$&')}"`;

/**
 * What Writ writes into the sandbox's /etc, by name below /etc. All of it sits at the system level of its tool, where a run's own
 * ~/.gitconfig, ~/.npmrc and the like outrank it: HOME stays the run's own, and Writ never writes there.
 */
export function generatedFiles(input: {
  readonly as: RunAs;
  readonly user_name: string;
  readonly home: string;
  readonly workspaces: readonly string[];
  readonly person: Person;
}): Readonly<Record<string, string>> {
  const { as, user_name, home, person } = input;
  const { uid, gid } = as.inside;
  const others = uid === 65534 ? '' : 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n';
  const groups = gid === 65534 ? '' : 'nogroup:x:65534:\n';
  const root = uid === 0 ? '' : 'root:x:0:0:root:/root:/bin/bash\n';
  const rootGroup = gid === 0 ? '' : 'root:x:0:\n';
  const user = [
    ...(person.git_name ? [`\tname = ${gitValue(person.git_name)}`] : []),
    ...(person.git_email ? [`\temail = ${gitValue(person.git_email)}`] : []),
  ];
  return {
    // The host's own names the machines of its network; inside there is none but this one.
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n',
    hostname: 'sandbox\n',
    passwd: `${root}${user_name}:x:${uid}:${gid}:${user_name}:${home}:/bin/bash\n${others}`,
    group: `${rootGroup}${user_name}:x:${gid}:\n${groups}`,
    gitconfig: [
      ...(user.length > 0 ? ['[user]', ...user] : []),
      '[init]',
      `\tdefaultBranch = ${gitValue(person.git_default_branch ?? 'main')}`,
      '[safe]',
      ...input.workspaces.flatMap((path) => [`\tdirectory = ${gitValue(path)}`, `\tdirectory = ${gitValue(`${path}/*`)}`]),
      '',
    ].join('\n'),
    npmrc: [
      ...(person.npm_registries ?? []).map(([key, url]) => `${key}=${url}`),
      'fetch-retries=0',
      'update-notifier=false',
      'fund=false',
      '',
    ].join('\n'),
    'pip.conf': [
      '[global]',
      'retries = 0',
      'disable-pip-version-check = true',
      ...(person.pip_index ? [`index-url = ${person.pip_index}`] : []),
      '',
    ].join('\n'),
    known_hosts: person.known_hosts ?? '',
  };
}

/** Where each of them is mounted. */
export const GENERATED_AT: Readonly<Record<string, string>> = {
  hosts: '/etc/hosts',
  hostname: '/etc/hostname',
  passwd: '/etc/passwd',
  group: '/etc/group',
  gitconfig: '/etc/gitconfig',
  npmrc: '/etc/npmrc',
  'pip.conf': '/etc/pip.conf',
  known_hosts: '/etc/ssh/ssh_known_hosts',
};
