export { defaultConfig } from './defaults.ts';
export { type ConfigExplanation, type ExplainedValue, explainConfig } from './explain.ts';
export { type EnsuredHome, ensureHome, shellWord } from './home.ts';
export { loadConfig } from './load.ts';
export { type ProcessFacts, readProcess } from './process.ts';
export type { ConfigNote, LoadConfigOptions, LoadedConfig, Origin, Provenance, Source } from './result.ts';
export type { Config, LogLevel, McpServerConfig, NonInteractive, RuleConfig, RunLimits } from './types.ts';
