export type { App, Terminal } from './app.ts';
export { renderConfigCheck } from './config-check.ts';
export { runProgram } from './program.ts';
