import { readFileSync } from 'node:fs';
import { chown, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { membersOf } from './proc.ts';
import { type Bench, isRoot, makeBench } from './testing.ts';

interface Shape {
  readonly id: string;
  readonly script: string;
  readonly timeout_ms: number;
  readonly retired?: string;
  readonly needs?: string;
  readonly expect: {
    readonly exit_code?: number;
    readonly timed_out?: boolean;
    readonly stdout?: string;
    readonly stdout_sha256?: string;
    readonly stdout_bytes?: number;
    readonly truncated?: boolean;
    readonly max_wall_ms?: number;
    readonly survivors: number;
  };
}

const shapes = readFileSync(new URL('../../../test/corpora/process-shapes.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Shape => JSON.parse(line))
  .filter((shape) => shape.retired === undefined);

/** Root also gives its rights up before a run; an ordinary user has only itself to be. */
const identities = isRoot ? [undefined, 65534] : [undefined];

describe.each(identities)('the shapes of processes (dropped to %s)', (uid) => {
  let bench: Bench;
  beforeAll(() => {
    bench = makeBench(uid);
  });
  afterAll(() => bench.close());

  it.concurrent.each(shapes)(
    '$id: $script',
    async (shape) => {
      const cwd = await mkdtemp(join(bench.hand.workspace, `${shape.id}-`));
      if (uid !== undefined) await chown(cwd, uid, uid);
      const plan = bench.hand.plan({}, { chdir: cwd });
      const began = performance.now();
      const { outcome, output, receipt } = await bench.run(shape.script, { plan, spec: { cwd, timeout_ms: shape.timeout_ms } });
      const wall = performance.now() - began;

      const wanted = shape.expect;
      if (wanted.timed_out === true) expect(outcome).toEqual({ state: 'timed_out', exit_code: 124 });
      else if (wanted.exit_code !== undefined) expect(outcome).toMatchObject({ state: 'exited', exit_code: wanted.exit_code });
      if (wanted.stdout !== undefined) expect(output.stdout.head).toBe(wanted.stdout);
      if (wanted.stdout_sha256 !== undefined) expect(output.stdout.sha256).toBe(wanted.stdout_sha256);
      if (wanted.stdout_bytes !== undefined) expect(output.stdout.total_bytes).toBe(wanted.stdout_bytes);
      if (wanted.truncated === true) expect(output.stdout.omitted_bytes).toBeGreaterThan(0);
      if (wanted.max_wall_ms !== undefined) expect(wall).toBeLessThan(wanted.max_wall_ms);
      expect(receipt?.teardown).toMatchObject({ verified: true, survivors: [] });
      expect(membersOf(receipt?.pid_namespace ?? '')).toEqual([]);
    },
    75_000,
  );
});
