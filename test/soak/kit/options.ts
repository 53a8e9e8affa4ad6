import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** The built program: it starts in a fraction of the time of the sources. */
const BUILT = fileURLToPath(new URL('../../../bin/writ.mjs', import.meta.url));

export interface Options {
  readonly seed: number;
  readonly count: number;
  /** How `writ` is started, for runs that start it. */
  readonly argv: readonly string[];
}

/** `--seed N` runs the same again, `--count N` runs less or more, `--program FILE` another build. Without a seed each run looks somewhere else. */
export function readOptions(count: number): Options {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string' }, program: { type: 'string' } } });
  const options = {
    seed: whole(values.seed) ?? Date.now() % 2 ** 31,
    count: whole(values.count) ?? count,
    argv: [process.execPath, values.program ?? BUILT],
  };
  console.log(`seed ${options.seed}, count ${options.count}`);
  return options;
}

function whole(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`"${text}" is not a whole number`);
  return value;
}
