import { CONFIG_WRITERS } from './programs/git.ts';
import type { Finding, ParsedCommand } from './types.ts';

/** What may stand beside git without being able to use a writable `.git/config` for anything. */
const HARMLESS = new Set(['cd', 'pwd', 'true', ':', 'echo', 'printf', 'test', '[', 'ls', 'cat', 'head', 'tail', 'grep', 'wc', 'sort']);
const GIT_EFFECTS = new Set<Finding['effect']>(['safe', 'local_write', 'code_execution', 'network_egress', 'destructive']);

/**
 * `.git/config` is writable for a run only when nothing in it can write there but git itself, by a subcommand that writes no key that
 * names a program. Hooks are off in such a run, so that they can't use the moment either.
 */
export function isGitConfigWrite(commands: readonly ParsedCommand[], findings: readonly Finding[]): boolean {
  let writes = false;
  for (const { argv, outer } of commands) {
    if (outer !== undefined || argv.includes(null)) return false;
    const [name = null, ...rest] = argv;
    if (name === 'git') {
      const verb = rest.find((word, index) => word !== null && !word.startsWith('-') && rest[index - 1] !== '-C');
      if (
        rest.some(
          (word) => word === '-c' || word?.startsWith('--config-env') || word?.startsWith('--exec-path') || word?.startsWith('--git-dir'),
        )
      )
        return false;
      if (typeof verb === 'string' && CONFIG_WRITERS.has(verb))
        writes = writes || verb !== 'push' || rest.some((word) => word === '-u' || word === '--set-upstream');
    } else if (name === null || !HARMLESS.has(name)) return false;
  }
  if (!writes) return false;
  return findings.every(({ effect, command, reason }) => {
    if (!GIT_EFFECTS.has(effect)) return false;
    // Redirects and variables belong to no command: none may write or change what git starts.
    if (command === undefined) return effect === 'safe';
    return effect !== 'code_execution' || reason === 'may run hooks of the repository';
  });
}
