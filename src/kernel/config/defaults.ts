import type { ProcessFacts } from './process.ts';
import type { Config } from './types.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** The whole configuration when nobody says anything. Only memory and cores look at the machine. */
export function defaultConfig(facts: Pick<ProcessFacts, 'cores' | 'memory_bytes'>): Config {
  return {
    mcp_servers: {},
    dangerous: { classes: {}, non_interactive: 'deny', deny: [], prompt: [], allow: [] },
    tools: { toolsets: {}, list_at_most: 40 },
    sandbox: {
      backend: 'bubblewrap',
      image: null,
      missing: 'deny',
      env_pass: [],
      loopback: [],
      limits: {
        // A quarter stays for the host itself: a limit the machine can't hold protects nothing.
        memory_bytes: Math.min(4 * GIB, Math.max(256 * MIB, Math.floor(facts.memory_bytes * 0.75))),
        pids: 512,
        cpus: Math.max(1, facts.cores),
        file_bytes: 2 * GIB,
        open_files: 4096,
        disk_bytes: 4 * GIB,
      },
    },
    shell: { timeout_ms: 120_000, max_timeout_ms: 3_600_000, yield_ms: 45_000, hosts: {} },
    browser: { allow_hosts: [] },
    limits: { job_retention_days: 7, job_quota_bytes: 2 * GIB },
    approvals: { wait_seconds: 45, webhook: { url: null, secret_env: null } },
    server: { host: '127.0.0.1', port: 7420, public_url: null, hosts: [], origins: [] },
    audit: { retention_days: 90, retention_bytes: 2 * GIB },
    log: { level: 'info' },
  };
}
