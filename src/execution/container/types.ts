/** For the backend `container`, from the configuration. */
export interface ContainerSettings {
  /** Programs that may be the engine, in order; the first that answers is used. Default: where distributions put them. */
  readonly engines?: readonly EngineCandidate[];
  /** A reference the engine knows; absent: the machine's own system in an empty image that Writ makes. */
  readonly image?: string;
}

export type EngineKind = 'podman' | 'docker';

export interface EngineCandidate {
  readonly kind: EngineKind;
  readonly path: string;
}

/** An engine that has answered, and how it is called. */
export interface Engine extends EngineCandidate {
  readonly version: string;
  /** It runs as an ordinary user: root inside is that user outside. */
  readonly rootless: boolean;
  /** Options in front of every sub-command. */
  readonly options: readonly string[];
  /** All it gets of the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** What runs are made of: an engine and an image by its content. */
export interface Target {
  readonly engine: Engine;
  /** `sha256:...`: what is run can't be another image than the one that was looked at. */
  readonly image: string;
  /** Mounts of the host at that time. */
  readonly mountinfo: string;
  /** Files with the filter of a run, and of one in which a browser may build its own sandbox. */
  readonly seccomp: { readonly plain: string; readonly nested: string };
  /** What a person calls it; absent for the machine's own system. */
  readonly named?: string;
}

export interface ContainerPlan {
  readonly engine: Engine;
  readonly image: string;
  /** Options of `run`, without name, labels and command. */
  readonly flags: readonly string[];
  /** Every bind that the flags name: what is mounted is compared with it. */
  readonly binds: readonly { readonly dest: string; readonly access: 'read' | 'write' }[];
  /** The image brings variables of its own (its PATH), on which those of the plan are laid. */
  readonly keeps_env: boolean;
  /** The Writ home, where it is recorded and by which it is labelled. */
  readonly home: string;
}
