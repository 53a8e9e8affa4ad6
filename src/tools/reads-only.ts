import type { Assessment } from '../policy/types.ts';

/** The assessment of a tool that only looks at what already belongs to the caller. */
export const readsOnly: Assessment = { effects: ['safe'], findings: [], commands: [], git_config_write: false };
