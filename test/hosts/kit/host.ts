import type { Call } from '../model/wire.ts';

/** One real agent: which package it is, how it is told of Writ and of the model, and how it is started without a person. */
export interface Host {
  readonly name: string;
  /** Its folder in the cache. */
  readonly folder: string;
  readonly package: string;
  /** Pinned: what a host does with a result changes between versions. */
  readonly version: string;
  readonly bin: string;
  /** As `writ connect` knows it. */
  readonly connect: string;
  prepare(place: HostPlace): Launch;
  /** Calls of the host's own tools that come before anything else, where these tools of Writ will be called. */
  first?(tools: readonly string[]): readonly Call[];
  /** How a call of a tool of a server is made, where it isn't offered directly. */
  wrap?(call: Call): Call;
}

/** Fresh folders of one run and what the configuration needs. */
export interface HostPlace {
  readonly home: string;
  readonly workspace: string;
  readonly model_url: string;
  /** The snippet that `writ connect` prints for this host. */
  readonly printed: string;
  /** What the server gets in its environment beside what the host passes on: the place of its records. Undefined over HTTP, where the host starts none. */
  readonly server_env: Readonly<Record<string, string>> | undefined;
}

export interface Launch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Run to its end before the host itself, with the same program and environment. */
  readonly before?: readonly string[];
}
