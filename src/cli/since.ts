import { AppError } from '../kernel/errors.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A point in time as people write it, in epoch ms: an ISO date (UTC) or time (local unless it says its zone), or `90m`, `12h`, `7d` ago. */
export function parseSince(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  // Date.parse alone takes almost anything, "1" and "may" too.
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new AppError('invalid_arguments', `"${text}" is not a time.`, {
    fix: 'Write it as 2026-11-30, 2026-11-30T15:04Z, or as how long ago: 90m, 12h, 7d.',
  });
}

/** A length of time as people write it (`90m`, `12h`, `30d`), in ms, up to `most` days. `option` is named in the refusal. */
export function parseLife(option: string, text: string, most: number): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (ms > 0 && ms <= most * 86_400_000) return ms;
  throw new AppError('invalid_arguments', `${option} ${JSON.stringify(text.slice(0, 40))} is no time such as 90m or 12h, up to ${most}d.`);
}
