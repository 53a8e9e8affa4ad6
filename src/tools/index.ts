import type { Execution, Owner } from '../execution/types.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { type BrowserParts, createBrowserTool } from './browser/index.ts';
import { type AssessFiles, createFileAccess } from './files/access.ts';
import { createMarkers } from './files/markers.ts';
import { createPatch } from './files/patch.ts';
import { createReadFile } from './files/read-file.ts';
import { createSearchFiles } from './files/search-files.ts';
import { createWriteFile } from './files/write-file.ts';
import { createJobCancel } from './job-cancel.ts';
import { createJobGet } from './job-get.ts';
import { createJobList } from './job-list.ts';
import { createJobOutput } from './job-output.ts';
import { type AssessShell, createShell, type ShellSettings } from './shell.ts';
import { createShellOutput } from './shell-output.ts';
import type { Tool } from './tool.ts';

export { type Browsing, createBrowsers, readPageHere } from './browser/index.ts';
export { createFacts } from './facts.ts';
export { createFindTools } from './find-tools.ts';
export { jobLine } from './job-shapes.ts';
export { missingTool } from './missing-tool.ts';
export { BUILT_IN_TOOLS } from './names.ts';
export { createReadArtifact } from './read-artifact.ts';
export type { ShellSettings } from './shell.ts';
export type { CallContext, JsonSchema, Tool, ToolAnnotations, ToolOutput } from './tool.ts';
export { createOfferTools, OFFER_TOOLS } from './upstream-offers.ts';
export { createTaskTool, TASK_TOOL } from './upstream-task.ts';
export { type BoundAnswer, createUpstreamTool } from './upstream-tool.ts';

/** What built-in tools are made from. */
export interface ToolParts {
  readonly execution: Execution;
  /** What holds in the Workspace of a call, for the program that made it. */
  settingsOf(owner: Owner, client?: string): ShellSettings;
  /** Absent: there is no browser. */
  readonly browser?: Omit<BrowserParts, 'execution'>;
  readonly assess: AssessShell;
  readonly assessFiles: AssessFiles;
  /** For what is read in pieces; everything is redacted once more by the gate. */
  readonly redactor: Redactor;
}

/** Every built-in tool, in the order in which they are listed. */
export function createTools(parts: ToolParts): readonly Tool[] {
  const { execution, settingsOf, assess, assessFiles, redactor, browser } = parts;
  const access = createFileAccess(() => execution.files(), assessFiles);
  const markers = createMarkers(redactor);
  return [
    createShell(execution, settingsOf, assess),
    createShellOutput(execution, redactor),
    createJobList(execution),
    createJobGet(execution),
    createJobOutput(execution, redactor),
    createJobCancel(execution),
    createReadFile(access, markers),
    createWriteFile(access, markers),
    createPatch(access, markers),
    createSearchFiles(access, () => execution.files(), markers),
    ...(browser === undefined ? [] : [createBrowserTool({ execution, ...browser })]),
  ];
}
