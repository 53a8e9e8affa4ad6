/** RFC 5424, least urgent first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LEVELS)[number];

export function isLogLevel(value: unknown): value is LogLevel {
  return LEVELS.some((level) => level === value);
}

/** Whether a line is urgent enough. One whose level nobody knows is. */
export function reaches(level: unknown, least: LogLevel): boolean {
  return !isLogLevel(level) || LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}
