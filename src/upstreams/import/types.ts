/** Programs whose files are read. */
export const HOSTS = ['claude', 'claude-desktop', 'cursor', 'vscode', 'gemini', 'codex', 'opencode'] as const;
export type Host = (typeof HOSTS)[number];

/** One server as another program's file has it. */
export interface ForeignServer {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** The same for Writ. It is checked like any other entry before it is written. */
export interface Imported {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** What stood in clear and goes into the store, by the name that the entry refers to. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Secrets that the entry refers to and that nobody has given yet. */
  readonly wanted: readonly string[];
  /** What became different, for a person to read; never with a secret in it. */
  readonly notes: readonly string[];
}

export type Translated =
  | { readonly type: 'server'; readonly server: Imported }
  | { readonly type: 'skipped'; readonly name: string; readonly why: string };
