import type { Text } from '../text.ts';
import { resetsDatabase } from './database-resets.ts';
import type { Call } from './program.ts';

/**
 * Many programs start another one that stands among their words (`watchexec rm -rf x`, `perf stat -- sh -c ...`), and nobody knows all
 * of them. So wherever words may be a command, the first one that names a program which throws away, or a shell, is taken for one:
 * a rightful word of that name (`dvc rm x.dvc`) is judged a little too strictly, and nothing hides.
 */
const NAMES = /^(?:(?:\/usr)?\/bin\/)?(?:rm|shred|rimraf|del-cli|truncate|sh|bash|dash|zsh|sudo|doas|git)$/;
/** The same as one word that is handed to a shell. */
const TEXT =
  /^\s*(?:sudo\s+)?(?:\/(?:usr\/)?bin\/)?(?:(?:rm|shred)\s+-\w|(?:ba|da|z)?sh\s+-\w*c\s|git\s+(?:-\S+\s+)*(?:reset|clean|push|checkout|restore|branch\s+-D)\s)/;

/** A first word that sends what the project made to others. */
const SENDS = /^(?:publish|deploy|upload|gh-deploy)$/;

export function launched(call: Call): void {
  const [first = '', second = ''] = call.args.filter((word) => !word.startsWith('-'));
  const verb = second === 'publish' ? second : first;
  if (SENDS.test(verb) && !call.args.some((word) => /^--(dry-run|dryRun|help)$/.test(word)))
    call.network(`${call.name} ${verb} sends data to another host`, []);
  resetsDatabase(call);
  for (const word of call.args) if (TEXT.test(word)) call.runsText(word.replace(/^-+[\w-]+=/, ''), `${call.name} may start a command`);
  const at = call.args.findIndex((word: Text) => NAMES.test(word));
  if (at >= 0 && at + 1 < call.args.length) call.inner(at);
}
