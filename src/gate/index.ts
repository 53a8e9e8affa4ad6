export { createGate, type GateParts } from './gate.ts';
export { describeOpening, type NonInteractive } from './non-interactive.ts';
export type { Gate, GateAnswer, GateRequest, ListedTool } from './types.ts';
