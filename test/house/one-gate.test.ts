import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Every file of a folder that is part of the product. */
function sources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** `tool.run(` and relatives: whoever has a Tool in hand and runs it. */
const RUNS_A_TOOL = /\btools?\w*(\[[^\]]+\]|\.get\([^)]*\))?\??\.run\(/i;

test('only the gate runs a tool', () => {
  const runners = sources(SRC).filter((file) => RUNS_A_TOOL.test(readFileSync(file, 'utf8')));
  expect(runners.map((file) => file.slice(SRC.length))).toEqual(['/gate/gate.ts']);
});

test('surfaces get a Gate and no tool: none of them imports a tool or starts an execution', () => {
  for (const room of ['mcp', 'http', 'agent']) {
    let files: readonly string[] = [];
    try {
      files = sources(join(SRC, room));
    } catch {
      continue;
    }
    for (const file of files) {
      const imports = readFileSync(file, 'utf8').match(
        /from '[^']*\/tools\/(?!tool\.ts)[^']*'|from '[^']*\/execution\/(?!types\.ts)[^']*'/g,
      );
      expect({ file, imports }).toEqual({ file, imports: null });
    }
  }
});
