import { realpathSync, statSync } from 'node:fs';
import { resolveWorkspaces } from '../../identity/index.ts';
import type { ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { type Assessment, assessCommand, type Decision, decide, type PolicyConfig } from '../../policy/index.ts';
import { createFacts } from '../../tools/index.ts';

/** A command judged as an agent working in `cwd` would have it judged; nothing is run or recorded. */
export function checkCommand(request: {
  readonly command: string;
  readonly cwd: string;
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly policy: PolicyConfig;
}): {
  assessment: Assessment;
  decision: Decision;
} {
  const cwd = existingFolder(request.cwd);
  const resolved = resolveWorkspaces({ roots_flag: [], client_roots: [], facts: { ...request.facts, cwd }, writ_home: request.home });
  const assessment = assessCommand(request.command, {
    cwd,
    home: request.facts.user.home ?? '/nonexistent',
    workspaces: resolved.ok ? resolved.workspaces.map((workspace) => workspace.path) : [cwd],
    facts: createFacts(request.facts.host_env['PATH'] ?? ''),
  });
  return { assessment, decision: decide(assessment, request.policy) };
}

function existingFolder(path: string): string {
  const fix = 'Name a folder that exists and that this user may open.';
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new AppError('invalid_arguments', `--cwd ${path} can't be opened.`, { fix, cause });
  }
  throw new AppError('invalid_arguments', `--cwd ${path} is not a folder.`, { fix });
}
