import { AppError, toAppError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import type { UpstreamTool } from './types.ts';
import type { UpstreamClient } from './wire/client.ts';

/** The tools of one upstream: as it lists them now, or as it did the last time while it isn't connected. */
export interface ToolList {
  /** The very same list as long as nothing in it is different: nobody is told of a change that is none. */
  tools(): readonly UpstreamTool[];
  /** As they came, to be kept for the next start. */
  definitions(): readonly unknown[];
  /** All of them, of a connection that is being made. AppError where there is no whole list. */
  read(client: UpstreamClient, signal: AbortSignal): Promise<void>;
  /** They are others by now, it says: they are read again at once. One that says it all the time is asked once in a while. */
  outdated(): void;
  /** What it had the last time is listed until it is there; it is called only as it is then. `wanted`: still, once they are judged. */
  recall(definitions: readonly unknown[], wanted: () => boolean): Promise<void>;
  /** Judged again, since somebody has answered. */
  review(): Promise<void>;
  /** What was decided about is what is called: AppError backend_changed where it is another one by now, or gone. */
  mustBe(tool: UpstreamTool): void;
  close(): void;
}

export interface ToolListParts {
  readonly name: string;
  readonly logger: Logger;
  readonly timeout_ms: number;
  readonly ended: AbortSignal;
  /** What they are for us. */
  vet(definitions: readonly unknown[], signal: AbortSignal): Promise<readonly UpstreamTool[]>;
  client(): UpstreamClient | undefined;
  /** They were read or judged again. */
  changed(): void;
  /** A whole list of this connection was read again. */
  keep(client: UpstreamClient): void;
}

const AGAIN_MS = 1_000;

export function createToolList({ name, logger, timeout_ms, ended, vet, client, changed, keep }: ToolListParts): ToolList {
  let tools: readonly UpstreamTool[] = [];
  let definitions: readonly unknown[] = [];
  let pause: NodeJS.Timeout | undefined;
  let outdated = false;
  let reading = false;

  async function take(found: readonly unknown[], signal: AbortSignal): Promise<void> {
    const vetted = await vet(found, signal);
    if (JSON.stringify(vetted) !== JSON.stringify(tools)) tools = vetted;
  }

  function listOf(from: UpstreamClient, signal: AbortSignal): Promise<readonly unknown[]> {
    return 'tools' in from.capabilities ? from.list('tools/list', 'tools', { timeout_ms, signal }) : Promise.resolve([]);
  }

  async function readAgain(): Promise<void> {
    const current = client();
    if (current === undefined || !('tools' in current.capabilities)) return;
    try {
      const found = await listOf(current, ended);
      if (client() !== current) return;
      definitions = found;
      await take(found, ended);
      keep(current);
      changed();
    } catch (thrown) {
      // The old list stays: its tools may well be there still, and a call finds out.
      logger.warn(`the tools of "${name}" could not be listed again`, { reason: toAppError(thrown).message });
    }
  }

  /** One reading at a time, so that no older list comes last, and a pause after each. */
  async function readWhileOutdated(): Promise<void> {
    reading = true;
    while (outdated && !ended.aborted) {
      outdated = false;
      const passed = new Promise<void>((resolve) => {
        pause = setTimeout(resolve, AGAIN_MS).unref();
      });
      await Promise.all([readAgain(), passed]);
    }
    reading = false;
  }

  return {
    tools: () => tools,
    definitions: () => definitions,
    async read(from, signal) {
      definitions = await listOf(from, signal);
      await take(definitions, signal);
    },
    outdated() {
      outdated = true;
      if (!reading) void readWhileOutdated();
    },
    async recall(remembered, wanted) {
      const vetted = await vet(remembered, ended);
      if (definitions.length > 0 || !wanted()) return;
      definitions = remembered;
      tools = vetted;
      changed();
    },
    async review() {
      if (definitions.length === 0) return;
      await take(definitions, ended);
      changed();
    },
    mustBe(tool) {
      if (tools.includes(tool)) return;
      const now = tools.find(({ name: own }) => own === tool.name);
      if (JSON.stringify(now) === JSON.stringify(tool)) return;
      throw new AppError(
        'backend_changed',
        `The tool "${tool.name}" of the MCP server "${name}" is ${now === undefined ? 'not there any more' : 'another one now'}; it was not called.`,
      );
    },
    close: () => clearTimeout(pause),
  };
}
