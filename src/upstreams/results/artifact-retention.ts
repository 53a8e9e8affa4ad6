/** What retention has to know of one artifact. */
export interface KeptArtifact {
  readonly id: string;
  readonly agent: string;
  /** Here, on this disk; 0 for a reference to a file elsewhere. */
  readonly bytes: number;
  readonly created_at: number;
}

export interface ArtifactLimits {
  readonly retention_ms: number;
  /** Of one agent, so that a busy one doesn't push out what others wait to read. */
  readonly agent_bytes: number;
  readonly agent_count: number;
  readonly total_bytes: number;
  readonly total_count: number;
}

export const ARTIFACT_LIMITS: ArtifactLimits = {
  retention_ms: 24 * 3_600_000,
  agent_bytes: 512 * 1024 ** 2,
  agent_count: 2_000,
  total_bytes: 2 * 1024 ** 3,
  total_count: 10_000,
};

/** Which artifacts go: what is old enough, then the oldest of an agent that has too many, then the oldest of all. */
export function planArtifactRemovals(artifacts: readonly KeptArtifact[], limits: ArtifactLimits, now: number): readonly string[] {
  const removed: string[] = [];
  const perAgent = new Map<string, { bytes: number; count: number }>();
  const total = { bytes: 0, count: 0 };
  // Newest first: what fits stays.
  for (const { id, agent, bytes, created_at } of artifacts.toSorted((a, b) => b.created_at - a.created_at)) {
    const own = perAgent.get(agent) ?? { bytes: 0, count: 0 };
    const stays =
      now - created_at < limits.retention_ms &&
      own.bytes + bytes <= limits.agent_bytes &&
      own.count < limits.agent_count &&
      total.bytes + bytes <= limits.total_bytes &&
      total.count < limits.total_count;
    if (!stays) {
      removed.push(id);
      continue;
    }
    perAgent.set(agent, { bytes: own.bytes + bytes, count: own.count + 1 });
    total.bytes += bytes;
    total.count++;
  }
  return removed;
}
