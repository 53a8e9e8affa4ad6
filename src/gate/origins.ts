import type { AppError } from '../kernel/errors.ts';
import type { Decision, Opening } from '../policy/types.ts';

/** Where untrusted text may come from in a run that has these openings, whatever becomes of it. */
export function openedOrigins({ opens }: Decision): readonly string[] {
  return opens.flatMap(originsOf);
}

function originsOf(opening: Opening): readonly string[] {
  switch (opening.type) {
    case 'hosts':
      return [...opening.hosts.map((host) => `host:${host}`), ...opening.presets.map((preset) => `preset:${preset}`)];
    case 'path':
      return [`file:${opening.path}`];
    case 'uncontained':
      return ['uncontained'];
  }
}

/** What a call that failed had read by then. */
export function reportedOrigins({ data }: AppError): readonly string[] {
  const origins = data?.['origins'];
  return Array.isArray(origins) ? origins.filter((origin): origin is string => typeof origin === 'string') : [];
}
