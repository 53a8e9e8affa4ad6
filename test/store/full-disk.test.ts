import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** A real full disk: a small tmpfs that bubblewrap mounts, which needs no rights. */
it('on a full disk only essential writes are stored, out of the reserve, which comes back with the room', async () => {
  const mount = mkdtempSync(join(tmpdir(), 'writ-full-'));
  const program = fileURLToPath(new URL('./full-disk.ts', import.meta.url));
  const size = String(16 * 1024 * 1024);
  const child = spawn('bwrap', ['--dev-bind', '/', '/', '--size', size, '--tmpfs', mount, process.execPath, program, mount], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, exit] = await Promise.all([text(child.stdout), once(child, 'close')]);
  rmSync(mount, { recursive: true, force: true });
  expect(
    Object.fromEntries(
      output
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ),
  ).toEqual({
    first: 'stored',
    reserve: 4 * 1024 * 1024,
    ordinary: 'disk_full',
    essential: 'stored',
    'ordinary again': 'disk_full',
    spent: 0,
    'with room again': 'stored',
    files: ['disk-reserve', 'writ.db'],
  });
  expect(exit).toEqual([0, null]);
});
