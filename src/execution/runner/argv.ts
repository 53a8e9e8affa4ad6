/**
 * Node for a runner. Most of what it allocates is dead by the next command, so that room for more of it is only memory that stays
 * resident, and that is copied and given back each time a sandbox is forked off. One helper thread is enough for so small a heap.
 */
const FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=1'] as const;

/** How a runner is started whose program is this file. */
export function runnerArgv(file: string): readonly string[] {
  return [process.execPath, ...process.execArgv, ...FLAGS, file];
}
