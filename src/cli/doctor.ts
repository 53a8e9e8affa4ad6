import { programsBeside } from '../execution/index.ts';
import { DIMENSIONS, type ProbeResult } from '../execution/types.ts';

/** What each dimension means, in the words of somebody who has never heard of it. */
const MEANING: Readonly<Record<(typeof DIMENSIONS)[number], string>> = {
  fs_read: 'files outside the Workspace are hidden',
  fs_write: 'only the Workspace and private folders are writable',
  network: 'no other host, and no service of this one, can be reached',
  unix_sockets: 'sockets of this machine (docker, D-Bus, agents) are out of reach',
  pid_ns: 'other processes are invisible and can not be signalled',
  user_ns_nesting: 'no user namespace of its own can be made',
  caps: 'no privileges',
  seccomp: 'dangerous system calls are refused',
  memory: 'memory is limited',
  pids: 'the number of processes is limited',
  cpu: 'processor time is limited',
  fsize: 'the size of one file is limited',
  disk: 'what private folders and output may take is limited',
  env: 'only listed environment variables are passed',
  proc_mask: 'kernel settings under /proc are read-only',
  tmp_noexec: 'programs in /tmp can not be started',
  uid: 'runs as an unprivileged user',
  teardown: 'the whole process tree is ended and seen gone',
  start_gate: 'nothing runs before its identity is recorded',
  wall_clock: 'the deadline holds whatever it does',
};

const MARK = { enforced: 'yes     ', best_effort: 'partly  ', not_enforced: 'no      ' } as const;

/** What else is used where it is found. */
export function renderPrograms(programs: ReturnType<typeof programsBeside> = programsBeside()): string {
  const lines = programs.map(({ name, used_for, path, fix }) =>
    path === undefined ? `  not found ${name} (for ${used_for}). ${fix}` : `  found     ${name}: ${path} (for ${used_for})`,
  );
  return `Beside it:\n${lines.join('\n')}`;
}

export function renderProbe(probe: ProbeResult): string {
  if (!probe.ok) {
    return `Containment: NOT available\n  what happened: ${probe.cause}\n  what to do:    ${probe.fix}${probe.detail ? `\n  detail:        ${probe.detail.trim().split('\n').slice(0, 4).join('\n                 ')}` : ''}\n\nCommands and jobs are refused until then; everything else works.`;
  }
  const lines = DIMENSIONS.map((name) => {
    const entry = probe.report.dimensions[name];
    const by = entry.state === 'enforced' ? (entry.by ?? '') : [entry.by, entry.reason].filter(Boolean).join('; ');
    return `  ${MARK[entry.state]} ${name.padEnd(16)} ${MEANING[name]}${by ? ` (${by})` : ''}`;
  });
  return `Containment: available, ${probe.backend.path} ${probe.backend.version}, checked by running it\n${lines.join('\n')}${probe.report.notes.length > 0 ? `\n  notes: ${probe.report.notes.join('; ')}` : ''}`;
}
