import { parseArgs } from 'node:util';

export interface Options {
  readonly seed: number;
  readonly count: number;
}

/** `--seed N` runs the same again, `--count N` runs less or more. Without a seed each run looks somewhere else. */
export function readOptions(count: number): Options {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string' } } });
  const options = { seed: whole(values.seed) ?? Date.now() % 2 ** 31, count: whole(values.count) ?? count };
  console.log(`seed ${options.seed}, count ${options.count}`);
  return options;
}

function whole(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`"${text}" is not a whole number`);
  return value;
}
