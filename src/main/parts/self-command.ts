import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a person or a host types to start this program again: the checkout's launcher, the installed `writ`, else Node and the script. */
export function selfCommand(self: readonly string[]): readonly string[] {
  const script = self.at(-1);
  if (script === undefined) return self;
  if (basename(script) === 'writ') return [script];
  const launcher = join(dirname(dirname(script)), 'writ');
  return basename(script) === 'writ.mjs' && existsSync(launcher) ? [launcher] : self;
}
