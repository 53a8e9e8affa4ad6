import type { ConfigNote } from '../../kernel/config/index.ts';
import { shown } from '../../kernel/config/parse.ts';

/** Says what is wrong with one key of one server, by its whole name: `mcp_servers.github.timeout_seconds`. */
export type Note = (key: readonly (string | number)[], message: string, fix?: string) => ConfigNote;

export function notesOf(server: string): Note {
  return (key, message, fix) => ({
    message: `${shown(['mcp_servers', server, ...key])} ${message}`,
    ...(fix === undefined ? {} : { fix }),
  });
}
