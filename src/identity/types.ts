/** A folder that agents over HTTP may work in, by the name that tokens and addresses (`/mcp/w/NAME`) use. */
export interface RegisteredWorkspace {
  readonly name: string;
  readonly path: string;
  readonly added_at: number;
}

/** The credential of one agent. What it is made of is never kept, only its hash. */
export interface AgentToken {
  readonly id: string;
  readonly name: string;
  /** The agent that it makes its bearer: `agent_NAME`. A later token of the same name is the same agent. */
  readonly agent: string;
  /** Names; the first is the primary one. */
  readonly workspaces: readonly string[];
  readonly toolset: string;
  /** A person sits at its client, so that questions may be answered there. Otherwise the agent would answer its own. */
  readonly attended: boolean;
  readonly created_at: number;
  readonly expires_at?: number;
  readonly revoked_at?: number;
  /** When it was last shown, to the minute. */
  readonly used_at?: number;
}

export interface NewToken {
  readonly name: string;
  readonly workspaces: readonly string[];
  readonly toolset: string;
  /** Default: no. */
  readonly attended?: boolean;
  readonly expires_at?: number;
}

export interface Identity {
  readonly tokens: {
    /** Durable before it returns. The secret is given here and never again. AppError invalid_arguments for a taken name or an unknown Workspace. */
    create(token: NewToken): Promise<{ readonly token: AgentToken; readonly secret: string }>;
    /** Newest first, revoked and expired ones too. */
    list(): Promise<readonly AgentToken[]>;
    /** Undefined: no token of that name is in force. Holds in every process at once. */
    revoke(name: string): Promise<AgentToken | undefined>;
    /** The token in force with this hash (`hashOfToken`), looked up afresh. */
    find(hash: Uint8Array): Promise<AgentToken | undefined>;
    /** Notes that it was shown; costs nothing when that was noted within the last minute. */
    used(token: AgentToken): void;
  };
  readonly workspaces: {
    /** AppError invalid_arguments for a folder that can't be one, a bad or a taken name. */
    add(name: string, path: string): Promise<RegisteredWorkspace>;
    list(): Promise<readonly RegisteredWorkspace[]>;
    remove(name: string): Promise<RegisteredWorkspace | undefined>;
  };
  /** The Run of what an agent does in a Workspace outside any session: goes on until nothing was done in it for 8 hours. */
  runOf(agent: string, workspace: string): string | Promise<string>;
  /** One-time keys to the page of `writ up`. */
  readonly links: {
    make(): Promise<string>;
    /** True once for a key that is not older than 10 minutes. */
    use(key: string): Promise<boolean>;
  };
}
