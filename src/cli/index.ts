export type { App, AskingPort, Catalogue, LoginPort, RunningServers, Settings, Terminal, Up, UpstreamsPort } from './app.ts';
export { renderConfigCheck } from './config-check.ts';
export { type Keyboard, QUIT } from './keyboard.ts';
export { runProgram } from './program.ts';
