import type { WorkspaceBind } from '../execution/types.ts';
import type { AppError } from '../kernel/errors.ts';
import type { Decision, Opening } from '../policy/types.ts';

/** Where untrusted text may come from in a run that has these openings, whatever becomes of it. What lies in a Workspace is none. */
export function openedOrigins({ opens }: Decision, workspaces: readonly WorkspaceBind[]): readonly string[] {
  return opens.flatMap((opening) => originsOf(opening, workspaces));
}

function originsOf(opening: Opening, workspaces: readonly WorkspaceBind[]): readonly string[] {
  switch (opening.type) {
    case 'hosts':
      return [...opening.hosts.map((host) => `host:${host}`), ...opening.presets.map((preset) => `preset:${preset}`)];
    case 'path':
      return workspaces.some(({ path }) => `${opening.path}/`.startsWith(`${path}/`)) ? [] : [`file:${opening.path}`];
    case 'uncontained':
      return ['uncontained'];
  }
}

/** What a call that failed had read by then. */
export function reportedOrigins({ data }: AppError): readonly string[] {
  const origins = data?.['origins'];
  return Array.isArray(origins) ? origins.filter((origin): origin is string => typeof origin === 'string') : [];
}
