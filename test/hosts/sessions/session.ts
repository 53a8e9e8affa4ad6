import type { Call } from '../model/wire.ts';

/** What one host's model calls in an everyday session: tools of Writ, the Workspace written as `WORK` wherever its path stands. */
export type Session = readonly Pick<Call, 'tool' | 'args'>[];

/** Stands in scripts and recordings for the folder that a run works in. */
export const WORK = '/work/project';
/** Stands for the id of the job that was started last. */
export const JOB = 'the last job';

export const shell = (command: string, more: Call['args'] = {}): Session[number] => ({ tool: 'shell', args: { command, ...more } });
export const readFile = (path: string, more: Call['args'] = {}): Session[number] => ({ tool: 'read_file', args: { path, ...more } });
export const search = (pattern: string, more: Call['args'] = {}): Session[number] => ({ tool: 'search_files', args: { pattern, ...more } });
export const writeFile = (path: string, content: string): Session[number] => ({ tool: 'write_file', args: { path, content } });
export const patch = (path: string, old_string: string, new_string: string): Session[number] => ({
  tool: 'patch',
  args: { path, old_string, new_string },
});
export const edits = (path: string, ...all: readonly (readonly [old_string: string, new_string: string])[]): Session[number] => ({
  tool: 'patch',
  args: { path, edits: all.map(([old_string, new_string]) => ({ old_string, new_string })) },
});
export const jobOutput = (more: Call['args'] = {}): Session[number] => ({ tool: 'job_output', args: { job_id: JOB, ...more } });
export const jobCancel: Session[number] = { tool: 'job_cancel', args: { job_id: JOB } };
export const jobList: Session[number] = { tool: 'job_list', args: {} };
