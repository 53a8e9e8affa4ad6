/**
 * What file tools need to see what a run sees: the same roots, the same private HOME and /tmp, the same protected paths. They open
 * files in this process, so they need the places and not a sandbox.
 */
export interface FilesView {
  /** What is where for these Workspaces, with what an approval opened. Looked up anew for each call, since guards move with the tree. */
  scene(workspaces: readonly { readonly path: string; readonly access: 'read' | 'write' }[], openings: readonly FileOpening[]): FilesScene;
  /** Runs ripgrep below one folder of a scene; see SearchRun. */
  search(run: SearchRun, signal: AbortSignal): Promise<SearchEnd>;
}

export interface FileOpening {
  readonly path: string;
  readonly access: 'read' | 'write';
}

export type FilePlace =
  | {
      readonly kind: 'bind';
      /** As a run sees it, and where that is on the host. Both absolute and clean. */
      readonly inside: string;
      readonly host: string;
      readonly access: 'read' | 'write';
      /** By an approval: exactly this, or what lies below it. */
      readonly opened: boolean;
    }
  | { readonly kind: 'link'; readonly inside: string; readonly target: string };

export interface FilesAs {
  readonly uid: number;
  readonly gid: number;
  /** This process is root and a run would not be. */
  readonly drop: boolean;
  /** What a run would see itself as. */
  readonly inside: { readonly uid: number; readonly gid: number };
}

export interface FilesScene {
  /** Who a run would be: owner of everything that is made. */
  readonly as: FilesAs;
  /** HOME as a run sees it. */
  readonly home: string;
  readonly places: readonly FilePlace[];
  /** Why others would obey a file there, as the end of a sentence; undefined: nothing special. Openings are not looked at. */
  protectedBecause(path: string): string | undefined;
}

export interface SearchRun {
  readonly scene: FilesScene;
  /** What is searched, as a run sees it, with every link resolved: a file or a folder. Nothing else is there. */
  readonly root: string;
  /** Where it starts: `root`, or the folder that the file is in. */
  readonly folder: string;
  /** Options and operands of ripgrep. Paths are relative to `folder`. */
  readonly args: readonly string[];
  readonly timeout_ms: number;
  /** Gets each piece of its output, one after the other; `false` ends it. */
  onOutput(chunk: Buffer): boolean | Promise<boolean>;
}

export interface SearchEnd {
  /** 0 matches, 1 none, 2 an error; null when it was ended. */
  readonly exit_code: number | null;
  /** At most 16 KiB. */
  readonly stderr: string;
  readonly ended: 'by_itself' | 'enough' | 'timeout';
}
