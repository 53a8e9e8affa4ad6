import { createContext, Script } from 'node:vm';

const box: { work?: () => unknown } = {};
const context = createContext(box);
const call = new Script('work()');

/** The result of a synchronous function, or undefined when it was still running after `ms`: it is ended where it stands. */
export function bounded<T>(work: () => T, ms: number): { readonly result: T } | undefined {
  box.work = work;
  try {
    return { result: call.runInContext(context, { timeout: ms }) as T };
  } catch (error) {
    // An error of that context, so no instance of the Error of this one.
    if ((error as { readonly code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
