import { uncontainedReport } from './running/uncontained-report.ts';
import type { ProbeResult, RunSpec } from './types.ts';

/** The operator has said that nothing contains runs: what an opening would open is open. */
export function withoutContainment(asked: RunSpec): RunSpec {
  const { network: _network, ports: _ports, pty: _pty, nested_userns: _nested, ...spec } = asked;
  return { ...spec, openings: [], uncontained: true };
}

/** There is nothing to prove, and nothing is claimed. */
export function notContained(probed_at: number): ProbeResult {
  const report = uncontainedReport(['sandbox.backend is "none": the operator lets commands run without containment'], {});
  return { ok: true, report, backend: { path: 'none', version: '' }, probed_at };
}
