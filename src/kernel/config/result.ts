import type { Config } from './types.ts';

/** Strongest first. */
export const SOURCES = ['flag', 'environment', 'project', 'operator', 'default'] as const;
export type Source = (typeof SOURCES)[number];

/** Where one value came from. `place` is a file and line, a variable or a flag. */
export interface Origin {
  readonly source: Source;
  readonly place?: string;
}

/** Something a person should know or mend, with where it stands. */
export interface ConfigNote {
  readonly message: string;
  readonly fix?: string;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
}

/** Dotted path of a value, list items as `dangerous.deny.0`. What isn't in it is a default. */
export type Provenance = Readonly<Record<string, Origin>>;

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly provenance: Provenance;
      readonly warnings: readonly ConfigNote[];
      /** Files that were read. */
      readonly files: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigNote[]; readonly warnings: readonly ConfigNote[] };

export interface LoadConfigOptions {
  /** The ensured Writ home (`ensureHome`). */
  readonly home: string;
  /** The first workspace, where `writ.json` may be; undefined: no project file. */
  readonly project_dir?: string | undefined;
  /** Values given as flags: flag name -> dotted path and value. */
  readonly flags?: readonly { readonly flag: string; readonly path: string; readonly value: unknown }[];
}
