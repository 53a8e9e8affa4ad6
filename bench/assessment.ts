import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assessCommand } from '../src/policy/index.ts';
import { createFacts } from '../src/tools/index.ts';
import type { Place } from './place.ts';
import { type Rows, spreadOf } from './row.ts';

const ROUNDS = 20;
const CORPUS = resolve(import.meta.dirname, '..', 'test', 'corpora', 'commands.jsonl');

/** What judging a command costs, over the everyday commands of the corpus, facts about files looked up each time. */
export async function assessment(place: Place): Promise<Rows> {
  const workspace = place.folder('assessment');
  const commands = readFileSync(CORPUS, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string; command: string })
    .filter(({ id }) => id.startsWith('cmd-benign-'));
  const times = new Map<string, number[]>(commands.map(({ command }) => [command, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { command } of commands) {
      const since = performance.now();
      assessCommand(command, {
        cwd: workspace,
        home: join(workspace, 'home'),
        workspaces: [workspace],
        facts: createFacts('/usr/local/bin:/usr/bin:/bin'),
      });
      if (round > 0) times.get(command)?.push((performance.now() - since) * 1000);
    }
  }
  const { median, low, high } = spreadOf([...times.values()].map((each) => spreadOf(each).median));
  const value = `${median.toFixed(0)} µs (${low.toFixed(0)} to ${high.toFixed(0)})`;
  return { figures: [{ what: `assessment of one of ${commands.length} everyday commands, median (10 % to 90 % of them)`, value }] };
}
