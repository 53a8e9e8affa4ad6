export { assessCommand } from './assess.ts';
export { assessPaths } from './assess-path.ts';
export { decide } from './decide.ts';
export { defaultVerdict, stricter } from './defaults.ts';
export { describeOpening } from './describe-opening.ts';
export { type LoadedRules, loadRules } from './rules.ts';
export type * from './types.ts';
