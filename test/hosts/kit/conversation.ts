import type { Call, Seen } from '../model/wire.ts';

/** What the scripted model does in every host, in this order. A label names the exchange for the checks. */

type Step = Generator<Call, Seen, Seen>;

export const REFUSED = 'curl https://example.com';
/** How an announcement begins. */
export const ENDED = 'Job ended: job_';
export const LINES = 60_000;

/** `wrap` is for hosts whose models reach the tools of a server through a tool of the host. */
export function* conversation(wrap: (call: Call) => Call): Generator<Call, void, Seen> {
  function* call(tool: string, args: Call['args'], label?: string): Step {
    return yield wrap({ tool, of: 'writ', args, ...(label === undefined ? {} : { label }) });
  }
  const shell = (args: Call['args'], label?: string): Step => call('shell', args, label);

  yield* shell({ command: 'echo "hello from $((40 + 2))"; echo "to stderr" >&2; git rev-parse --show-toplevel; exit 3' }, 'shell');
  yield* shell({ command: REFUSED }, 'refusal');
  yield* shell({ command: 'ls', cwd: '/etc' }, 'wrong argument');
  yield* shell({ command: `seq 1 ${LINES}` }, 'long output');

  const started = yield* shell(
    { command: 'until [ -e go ]; do sleep 0.1; done; echo "the answer is $((6 * 7))"; exit 5', background: true },
    'job',
  );
  const job_id = jobIn(started);
  yield* shell({ command: 'touch go' });
  for (let round = 0; round < 10; round++) {
    const page = yield* call('job_output', { job_id, cursor: 0, wait_ms: 20_000 }, 'job output');
    if (page.text.includes('exited')) break;
  }

  // Its end is told with whatever answer comes next, which may be the very answer to its start.
  const quick = yield* shell({ command: 'echo quick', background: true, description: 'a quick one' }, 'announcement');
  for (let round = 0, told = quick; round < 20 && !told.text.includes(ENDED); round++) {
    // Each call another one: hosts end a model that repeats itself.
    told = yield* shell({ command: `sleep 0.5 # ${round}` }, 'announcement');
  }
}

/** The id as a model would read it off the answer. */
export function jobIn({ text }: Seen): string {
  return /job_[0-9a-z]{22}/.exec(text)?.[0] ?? 'no job id in the answer';
}
