/** What a command line would fetch from a registry whenever it is started, and what stands in its place once it is installed. */
export interface Wanted {
  readonly ecosystem: 'npm' | 'python';
  /** As the installer is told: `@scope/name@^1`, `name[extra]==1.2`. The program is looked for in all of them, the first one first. */
  readonly specs: readonly string[];
  /** Name of the program; absent: the one that the first package is known by. */
  readonly bin?: string | undefined;
  /** Address of the registry, where the command names one. */
  readonly registry?: string | undefined;
}

export type CommandRead =
  /** It fetches nothing that could be told from its words. */
  | { readonly type: 'own' }
  /** `args_from`: where the arguments of the program begin among those of the command. */
  | { readonly type: 'package'; readonly wanted: Wanted; readonly args_from: number }
  /** It would fetch something that can't be pinned, or can't be understood. */
  | { readonly type: 'unclear'; readonly why: string; readonly fix: string };

/** How the program of an installed package is started. Paths are relative to the folder of the installation. */
export type Program =
  | { readonly type: 'node'; readonly script: string; readonly flags: readonly string[] }
  | { readonly type: 'file'; readonly path: string }
  /** `entry`: `module:function`, as a console script names it. */
  | { readonly type: 'python'; readonly site: string; readonly name: string; readonly entry: string };

/** What an installer has put into a folder. */
export interface Found {
  readonly package: string;
  readonly version: string;
  /** Of the package as the registry gave it, where the installer tells. */
  readonly integrity?: string;
  /** How many packages there are in all. */
  readonly packages: number;
  /** Relative: the file that says exactly what all of it is. */
  readonly lock: string;
  readonly program: Program;
  /** Relative, the lock among them: few and telling files, which are compared before each start. */
  readonly watched: readonly string[];
}

/** What an installer is run with. It sees `folder` and nothing else of Writ, and writes there. */
export interface InstallerRun {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  /** `full` where the registry lies on this machine or behind a proxy. `own`: wherever they lead. */
  readonly network: 'full' | { readonly hosts: readonly string[]; readonly presets: readonly string[]; readonly own: readonly string[] };
}

export interface InstallerEnd {
  /** Absent where it could not be seen to exit. */
  readonly exit_code?: number;
  /** The last of what it said. */
  readonly output: string;
  /** Limits of the sandbox that ended it: "disk", "memory", "pids", "fsize". */
  readonly limits_hit?: readonly string[];
  /** Hosts that it wanted and that were not open, with the reason. */
  readonly refused: readonly string[];
}

/** Whose settings count, and what is there to install with. */
export interface Installing {
  readonly user_home: string | undefined;
  readonly host_env: Readonly<Record<string, string>>;
  /** Whether a program of this name is on the PATH. */
  has(program: string): boolean;
}

/** One kind of installer: what it is told, and what it left in the folder. */
export interface Installer {
  /** Makes what it needs in the empty folder. AppError not_found where there is nothing to install with. */
  prepare(wanted: Wanted, folder: string, parts: Installing): InstallerRun;
  /** Removes what must not stay, and reads the rest. AppError where there is no such program. */
  read(wanted: Wanted, folder: string): Found;
}
