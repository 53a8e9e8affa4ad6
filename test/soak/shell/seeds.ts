import { readFileSync } from 'node:fs';

/** The commands of the corpora, those that are wrong on purpose included. */
export function seedCommands(): readonly string[] {
  return ['commands.jsonl', 'commands-extra.jsonl'].flatMap((name) =>
    readFileSync(new URL(`../../corpora/${name}`, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => {
        const { command } = JSON.parse(line) as { command?: string };
        return command === undefined ? [] : [command];
      }),
  );
}
