import { AppError } from '../kernel/errors.ts';

/** Names become file names, parts of addresses and of agent ids. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** The agent of stdio connections; a token of that name would be the same agent. */
const RESERVED: readonly string[] = ['local'];

/** The name, if it can be one of a token or a Workspace. */
export function checkedName(name: string, of: 'token' | 'workspace'): string {
  if (!NAME.test(name)) {
    throw new AppError('invalid_arguments', `${JSON.stringify(name.slice(0, 80))} can't be the name of a ${of}.`, {
      fix: 'Use 1 to 40 of: small letters, digits, "_", "-"; the first a letter or digit.',
    });
  }
  if (of === 'token' && RESERVED.includes(name)) {
    throw new AppError('invalid_arguments', `The agent "${name}" is the one of \`writ mcp\`, so no token can be named so.`);
  }
  return name;
}
