import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, isRoot, makeBench } from './testing.ts';

const identities = isRoot ? [undefined, 65534] : [undefined];

describe.each(identities)('standard input (dropped to %s)', (uid) => {
  let bench: Bench;
  beforeAll(() => {
    bench = makeBench(uid);
  });
  afterAll(() => bench.close());

  it('is given whole and then closed, also by the name of its device', async () => {
    const bytes = Buffer.alloc(3_000_000, 'abc\n');
    const { output } = await bench.run('cat', { spec: { stdin: bytes } });
    expect(output.stdout.total_bytes).toBe(bytes.length);
    expect((await bench.run('cat /dev/stdin', { spec: { stdin: Buffer.from('by name') } })).output.stdout.head).toBe('by name');
    expect((await bench.run('cat; echo end', { spec: { stdin: new Uint8Array() } })).output.stdout.head).toBe('end\n');
  });

  it('can be read and not be written', async () => {
    const { output } = await bench.run('echo changed >&0; cat', { spec: { stdin: Buffer.from('original') } });
    expect(output.stdout.head).toBe('original');
    expect(output.stderr.head).toContain('Bad file descriptor');
  });

  it('keeps nobody waiting when it is not read', async () => {
    const { outcome } = await bench.run('exit 4', { spec: { stdin: Buffer.alloc(3_000_000) } });
    expect(outcome).toEqual({ state: 'exited', exit_code: 4 });
  });
});
