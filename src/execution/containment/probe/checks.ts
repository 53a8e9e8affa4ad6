import { NAMESPACES } from './script.ts';

/** What the script printed, by name. */
export type Facts = Readonly<Record<string, string>>;

export function parseFacts(stdout: string): Facts {
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const space = line.indexOf(' ');
      return space > 0 ? [[line.slice(0, space), line.slice(space + 1)]] : [];
    }),
  );
}

/** What a fact must be, and what it would mean if it isn't. A fact that is missing is a failure too. */
export interface Check {
  readonly fact: string;
  readonly expect: 'refused' | 'done' | 'zero' | 'differs' | { readonly value: string };
  readonly or_unknown?: boolean;
  readonly means: string;
}

export const CHECKS: readonly Check[] = [
  { fact: 'finished', expect: { value: 'yes' }, means: 'the probe did not run to its end' },
  ...NAMESPACES.map((name): Check => ({ fact: `ns_${name}`, expect: 'differs', means: `the sandbox has no ${name} namespace of its own` })),
  { fact: 'write_root', expect: 'refused', means: 'the root of the sandbox can be written' },
  { fact: 'write_system', expect: 'refused', means: 'system folders can be written' },
  { fact: 'write_etc', expect: 'refused', means: 'system settings can be written' },
  { fact: 'write_dev', expect: 'refused', means: '/dev can be written' },
  { fact: 'proc_sys', expect: 'refused', means: 'kernel settings in /proc/sys can be written' },
  { fact: 'write_hook', expect: 'refused', means: 'a git hook can be planted' },
  { fact: 'move_git', expect: 'refused', means: 'a protected folder can be moved away' },
  { fact: 'loopback', expect: 'refused', means: "the host's loopback can be reached" },
  { fact: 'abstract_socket', expect: 'refused', means: "the host's abstract sockets can be seen" },
  { fact: 'canary', expect: 'refused', means: "Writ's own environment is readable inside" },
  { fact: 'shadow', expect: 'refused', means: '/etc/shadow is there' },
  { fact: 'hidden', expect: 'refused', means: 'files of the Writ home are there' },
  { fact: 'nested_userns', expect: 'refused', or_unknown: true, means: 'user namespaces can be made inside' },
  { fact: 'CapEff', expect: 'zero', means: 'the run has capabilities' },
  { fact: 'CapBnd', expect: 'zero', means: 'the run could gain capabilities' },
  { fact: 'NoNewPrivs', expect: { value: '1' }, means: 'the run could gain privileges from setuid programs' },
  { fact: 'write_workspace', expect: 'done', means: 'the workspace cannot be written' },
  { fact: 'write_home', expect: 'done', means: 'the private HOME cannot be written' },
  { fact: 'write_tmp', expect: 'done', means: 'the private TMPDIR cannot be written' },
];

/** The failures, in words. `host` holds our own namespaces by kind; `filter`: a seccomp filter was given; `excused`: facts that are no hole here. */
export function failures(facts: Facts, host: Facts, filter: boolean, excused: ReadonlySet<string> = new Set()): readonly string[] {
  const checks: readonly Check[] = filter
    ? [...CHECKS, { fact: 'Seccomp', expect: { value: '2' }, means: 'the system call filter is not in force' }]
    : CHECKS;
  return checks
    .filter((check) => !excused.has(check.fact))
    .filter((check) => !holds(check, facts[check.fact], host[check.fact.replace(/^ns_/, '')]))
    .map((check) => check.means);
}

function holds({ expect, or_unknown }: Check, found: string | undefined, host: string | undefined): boolean {
  if (found === undefined) return false;
  if (or_unknown === true && found === 'unknown') return true;
  if (expect === 'zero') return /^0+$/.test(found);
  if (expect === 'differs') return host !== undefined && found !== '' && found !== host;
  return typeof expect === 'string' ? found === expect : found === expect.value;
}
