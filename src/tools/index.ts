import type { Execution, Owner } from '../execution/types.ts';
import { createJobCancel } from './job-cancel.ts';
import { createJobGet } from './job-get.ts';
import { createJobList } from './job-list.ts';
import { createJobOutput } from './job-output.ts';
import { type AssessShell, createShell, type ShellSettings } from './shell.ts';
import { createShellOutput } from './shell-output.ts';
import type { Tool } from './tool.ts';

export { createFacts, realpathAsFarAsItExists } from './facts.ts';
export { jobLine } from './job-shapes.ts';
export type { ShellSettings } from './shell.ts';
export type { CallContext, JsonSchema, Tool, ToolAnnotations, ToolOutput } from './tool.ts';

/** Every built-in tool, in the order in which they are listed. */
export function createTools(execution: Execution, settingsOf: (owner: Owner) => ShellSettings, assess: AssessShell): readonly Tool[] {
  return [
    createShell(execution, settingsOf, assess),
    createShellOutput(execution),
    createJobList(execution),
    createJobGet(execution),
    createJobOutput(execution),
    createJobCancel(execution),
  ];
}
