import { AppError } from '../../kernel/errors.ts';
import { RESERVED_PORTS } from '../network/inlets.ts';
import type { RunSpec } from '../types.ts';

const MAX_COMMAND_BYTES = 1024 * 1024;
const MAX_STDIN_BYTES = 16 * 1024 * 1024;
const MAX_TIMEOUT_MS = 24 * 3_600_000;
const MAX_DESCRIPTION = 200;

const MAX_HOSTS = 256;
const MAX_PRESETS = 32;
const MAX_PORTS = 16;

export const UNCONTAINED_JOB = 'A command without containment can not be a job: the end of its processes could not be proved.';

/** Bounds of what may be asked for; refused before anything is written. */
export function checkSpec(spec: RunSpec): void {
  const bytes = Buffer.byteLength(spec.command);
  const problems: readonly (readonly [boolean, string])[] = [
    [bytes > MAX_COMMAND_BYTES, `the command has ${bytes} bytes, and ${MAX_COMMAND_BYTES} is the most`],
    [spec.command.includes('\0'), 'the command holds a NUL character'],
    [!(spec.timeout_ms > 0 && spec.timeout_ms <= MAX_TIMEOUT_MS), `timeout_ms must be from 1 to ${MAX_TIMEOUT_MS} (24 h)`],
    [spec.workspaces.length === 0, 'it needs a workspace to run in'],
    [
      (spec.network?.hosts.length ?? 0) > MAX_HOSTS || (spec.network?.presets.length ?? 0) > MAX_PRESETS,
      `at most ${MAX_HOSTS} hosts and ${MAX_PRESETS} presets can be opened`,
    ],
    [
      (spec.ports?.length ?? 0) > MAX_PORTS || new Set(spec.ports).size !== (spec.ports?.length ?? 0),
      `ports may be ${MAX_PORTS} different ones at the most`,
    ],
    [
      spec.ports?.some((port) => !Number.isInteger(port) || port < 1024 || port > 65_535 || RESERVED_PORTS.includes(port)) ?? false,
      `a port to publish must be from 1024 to 65535 and none of ${RESERVED_PORTS.join(', ')}`,
    ],
    [spec.stdin !== 'closed' && spec.stdin.length > MAX_STDIN_BYTES, `stdin may have ${MAX_STDIN_BYTES} bytes at the most`],
    [(spec.description?.length ?? 0) > MAX_DESCRIPTION, `the description may have ${MAX_DESCRIPTION} characters at the most`],
  ];
  const found = problems.filter(([wrong]) => wrong).map(([, problem]) => problem);
  if (found.length > 0) throw new AppError('invalid_arguments', `It can't be run: ${found.join('; ')}.`);
}
