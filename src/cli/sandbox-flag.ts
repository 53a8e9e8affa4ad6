import type { Command } from 'commander';
import type { Settings } from './app.ts';

/** `--sandbox`, and what it says of the configuration. */
export function sandboxOption(command: Command): Command {
  return command.option('--sandbox [backend]', 'what contains commands: container (when no word follows), bubblewrap or none');
}

export function sandboxSettings({ sandbox }: { readonly sandbox?: string | true }): Settings {
  if (sandbox === undefined) return [];
  return [{ flag: '--sandbox', path: 'sandbox.backend', value: sandbox === true ? 'container' : sandbox }];
}
