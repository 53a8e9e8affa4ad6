export type { People } from './ask.ts';
export { createGate, type GateParts } from './gate.ts';
export type { GatePolicy, NonInteractive } from './non-interactive.ts';
export { resolveTool } from './resolve-tool.ts';
export type { Gate, GateAnswer, GateRequest, ListedTool } from './types.ts';
