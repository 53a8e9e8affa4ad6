export { createGate, type GateParts, type GatePolicy } from './gate.ts';
export type { NonInteractive } from './non-interactive.ts';
export type { Gate, GateAnswer, GateRequest, ListedTool } from './types.ts';
