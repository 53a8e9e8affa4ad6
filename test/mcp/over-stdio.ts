import { fileURLToPath } from 'node:url';

/** What the official clients say of themselves in these suites. */
export const INFO = { name: 'interop', version: '1.0.0' };

/** The fixture server as a process, for their transports over stdio. */
export function fixtureServer(...args: readonly string[]): {
  readonly command: string;
  readonly args: string[];
  readonly stderr: 'inherit';
} {
  const path = fileURLToPath(new URL('./fixture-server.ts', import.meta.url));
  return { command: process.execPath, args: ['--no-warnings', path, ...args], stderr: 'inherit' };
}
