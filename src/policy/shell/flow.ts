import { joinStates, type ShellFunction, type State } from './state.ts';
import { eitherStream, LOCAL, type Stream } from './stream.ts';

/** What is true after a command: where it succeeded, where it failed (undefined: it can't), and what it printed. */
export interface Flow {
  readonly ok: State | undefined;
  readonly fail: State | undefined;
  readonly out: Stream;
}

export const both = (state: State, out: Stream = LOCAL): Flow => ({ ok: state, fail: state, out });

export const joinMaybe = (a: State | undefined, b: State | undefined): State | undefined =>
  a === undefined ? b : b === undefined ? a : joinStates(a, b);

export const joinFlows = (a: Flow, b: Flow): Flow => ({
  ok: joinMaybe(a.ok, b.ok),
  fail: joinMaybe(a.fail, b.fail),
  out: eitherStream(a.out, b.out),
});

/** The state after it, whatever its status. Code after `exit` is judged as if it were reached: text may only make a verdict stricter. */
export const after = (flow: Flow, before: State): State => joinMaybe(flow.ok, flow.fail) ?? before;

/** What surrounds a command while it is judged. */
export interface Scene {
  readonly stdin: Stream;
  /** Texts within texts and functions within functions. */
  readonly nesting: number;
  /** Calls on the way here, with the state and the number of forks at that moment: a call of itself behind a fork is a bomb. */
  readonly calls: readonly { readonly of: ShellFunction['body'] | `alias ${string}`; readonly forks: number; readonly state: State }[];
  readonly forks: number;
  /** Runs on another machine or in another container: only loss is judged, paths here mean nothing there. */
  readonly remote: boolean;
}
