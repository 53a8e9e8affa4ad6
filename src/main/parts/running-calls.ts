import type { Owner } from '../../execution/index.ts';
import type { Gate, GateRequest } from '../../gate/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { createPassing } from '../../kernel/passing.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { visible } from '../../kernel/visible.ts';

/** A call that this process is carrying out, or that waits in it for a person. */
export interface RunningCall {
  readonly id: string;
  readonly owner: Owner;
  readonly client?: string;
  readonly tool: string;
  /** The command or the arguments, masked, escaped, at most 300 characters. */
  readonly what: string;
  readonly started_at: number;
}

export interface RunningCalls {
  /** The same gate, with every call through it listed while it lasts. */
  watch(gate: Gate, redactor: Redactor): Gate;
  /** Oldest first. Bounded by what surfaces let in at once. */
  list(): readonly RunningCall[];
  /** Cancels it; undefined: it is over. */
  stop(id: string): RunningCall | undefined;
}

const SHOWN = 300;

export function createRunningCalls(clock: Clock): RunningCalls {
  const running = createPassing<Running>();

  async function call(gate: Gate, redactor: Redactor, request: GateRequest): Promise<Awaited<ReturnType<Gate['call']>>> {
    const id = newId('call', clock.now());
    const controller = new AbortController();
    const { signal } = request;
    // AbortSignal.any would do the same for three times the price, and every call goes through here.
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    const over = running.add({ id, request, redactor, controller, started_at: clock.now() });
    try {
      return await gate.call({ ...request, signal: controller.signal });
    } finally {
      signal.removeEventListener('abort', abort);
      over();
    }
  }

  return {
    watch: (gate, redactor) => ({ ...gate, call: (request) => call(gate, redactor, request) }),
    list: () => running.values().map(shown),
    stop(id) {
      const found = running.values().find((each) => each.id === id);
      found?.controller.abort(new AppError('cancelled', 'The operator stopped it.'));
      return found && shown(found);
    },
  };
}

interface Running {
  readonly id: string;
  readonly request: GateRequest;
  readonly redactor: Redactor;
  readonly controller: AbortController;
  readonly started_at: number;
}

function shown({ id, request, redactor, started_at }: Running): RunningCall {
  const { owner, tool, client } = request;
  return {
    id,
    owner,
    tool: cut(visible(tool)),
    what: cut(visible(redactor.text(textOf(request.arguments)))),
    started_at,
    ...(client === undefined ? {} : { client: cut(visible(client.name)) }),
  };
}

/** What a person wants to see of a call's arguments: a command as it is, anything else as JSON. */
function textOf(args: unknown): string {
  const command: unknown = typeof args === 'object' && args !== null ? Reflect.get(args, 'command') : undefined;
  if (typeof command === 'string') return command.slice(0, 10 * SHOWN);
  return (JSON.stringify(args) ?? '').slice(0, 10 * SHOWN);
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()} [... ${text.length - SHOWN} more]` : text;
}
