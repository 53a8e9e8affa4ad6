import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The official scenarios, where they are installed. */
export const PACKAGE = process.env['WRIT_CONFORMANCE'] ?? 'node_modules/@modelcontextprotocol/conformance';
const RUNNER = join(PACKAGE, 'dist/index.js');

export const isInstalled = existsSync(RUNNER);

/** Runs them to their end; `output` is both streams as they come. */
export async function runScenarios(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [RUNNER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}
