import type { UpstreamState } from './types.ts';

/** Where an upstream may go from each state. What isn't here doesn't happen; a closed one goes nowhere. */
export const TRANSITIONS: Readonly<Record<UpstreamState, readonly UpstreamState[]>> = {
  disabled: ['starting', 'needs_approval', 'needs_install', 'quarantined'],
  needs_approval: ['disabled', 'starting', 'needs_install', 'quarantined'],
  needs_install: ['disabled', 'starting', 'needs_approval', 'quarantined'],
  starting: ['disabled', 'connected', 'needs_auth', 'needs_approval', 'needs_install', 'quarantined', 'timeout', 'failed'],
  connected: ['disabled', 'starting', 'failed', 'needs_auth', 'quarantined'],
  needs_auth: ['disabled', 'starting'],
  timeout: ['disabled', 'starting'],
  failed: ['disabled', 'starting'],
  quarantined: ['disabled', 'starting', 'needs_approval', 'needs_install'],
};

/** States that a person ends, and no waiting or trying again. */
export const SETTLED: ReadonlySet<UpstreamState> = new Set(['disabled', 'needs_approval', 'needs_install', 'needs_auth', 'quarantined']);
