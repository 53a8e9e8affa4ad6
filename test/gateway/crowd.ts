import { readdirSync, readFileSync } from 'node:fs';
import { fixture, gatewayPlace } from './place.ts';

/** Says nothing; says no JSON; ends at once; answers with nothing that was asked; says back what it hears; floods stderr first. */
const SCRIPTS = [
  'exec sleep 600',
  'echo hello; exec sleep 600',
  'exit 7',
  'while read -r line; do echo "{}"; done',
  'exec cat',
  'seq 2000 >&2; exec sleep 600',
];

/** A Writ home with a good server and so many bad ones. */
export function crowdPlace(count: number): ReturnType<typeof gatewayPlace> {
  return gatewayPlace((at) => {
    const shell = (script = ''): object => ({ command: 'sh', args: ['-c', script], network: 'none', connect_timeout_seconds: 1 });
    const bad = Array.from({ length: count }, (_, n) => [`bad${n}`, shell(SCRIPTS[n % SCRIPTS.length])]);
    return { ...Object.fromEntries(bad), good: fixture(at, 'bad-neighbour.mjs', ['good'], { connect_timeout_seconds: 60 }) };
  });
}

/** Whoever has this folder in their command line, but for these. */
export function processesOf(folder: string, ...but: readonly (number | undefined)[]): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && !but.includes(Number(pid)))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(folder) ? [line] : [];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
}
