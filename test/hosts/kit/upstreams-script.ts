import type { Call, Seen } from '../model/wire.ts';

/** What the scripted model does with the tools of other MCP servers, and by which words it goes. */

export const PROGRAM = 'catalogue-server.mjs';
export const TOOL = 'notes__greet';
/** What a refusal tells the model's user to run. */
export const FIX = 'writ upstream approve notes';
export const CODE = 'tool_unapproved';
export const [FIRST, SECOND, THIRD] = ['Hello', 'Good day', 'Greetings'] as const;
/** What a shell says in place of a tool that the host doesn't offer (any more). */
export const NOT_OFFERED = 'no such tool here';

/** Gemini CLI asks its model after 30 turns whether it goes round in circles, and waits for an answer that no script gives. */
const PAUSE_S = 3;
const ROUNDS = 20;

/** Makes calls of Writ's tools, as the host wants them made. */
export type Wrap = (call: Call) => Call;

type Script = Generator<Call, void, Seen>;

/** The catalogue is too big to be listed: tools are found, and called by `call_tool`. */
export function* searching(wrap: Wrap): Script {
  const call = (tool: string, args: Call['args'], label: string): Call => ({ ...wrap({ tool, of: 'writ', args }), label });
  // Never the same call twice, which hosts end a model for.
  const greet = (name: string, label: string): Call => call('call_tool', { name: TOOL, arguments: { name } }, label);
  yield* until(FIRST, (round) => greet(`Ada ${round}`, 'before and after a yes'), call);
  yield call('shell', { command: 'echo 2 > version' }, 'change');
  yield* until(CODE, (round) => greet(`Bob ${round}`, 'changed'), call);
  yield* until(SECOND, (round) => greet(`Cy ${round}`, 'changed and approved'), call);
  yield call('find_tools', { query: 'multiply a number by 21' }, 'find_tools');
  yield call('describe_tool', { name: 'many__times_21' }, 'describe_tool');
  yield call('call_tool', { name: 'many__times_21', arguments: { number: 2 } }, 'call_tool');
}

/** Few tools: each is listed under its own name. */
export function* listed(wrap: Wrap): Script {
  const call = (tool: string, args: Call['args'], label: string): Call => ({ ...wrap({ tool, of: 'writ', args }), label });
  const greet = (name: string, label: string): Call => ({
    ...call(TOOL, { name }, label),
    otherwise: call('shell', { command: `echo '${NOT_OFFERED}' # ${name}` }, label),
  });
  yield greet('Dee', 'listed');
  yield call('shell', { command: 'echo 3 > version' }, 'change');
  for (let round = 0; round < ROUNDS; round++) {
    const { text } = yield greet(`Eve ${round}`, 'listed and changed');
    if (!isGreeting(text)) break;
    yield pause(call, `Eve ${round}`);
  }
  yield* until(THIRD, (round) => greet(`Flo ${round}`, 'listed, changed and approved'), call);
}

/** Whatever stands in the file by then. */
export function isGreeting(text: string): boolean {
  return [FIRST, SECOND, THIRD].some((greeting) => text.includes(`${greeting}, `));
}

type Make = (tool: string, args: Call['args'], label: string) => Call;

function* until(wanted: string, make: (round: number) => Call, call: Make): Script {
  for (let round = 0; round < ROUNDS; round++) {
    const made = make(round);
    const { text } = yield made;
    if (text.includes(wanted)) return;
    yield pause(call, `${made.label} ${round}`);
  }
}

function pause(call: Make, what: string): Call {
  return call('shell', { command: `sleep ${PAUSE_S} # ${what}` }, 'pause');
}
