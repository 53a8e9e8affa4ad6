import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type AssessContext, assessCommand, decide, describeOpening } from './index.ts';

/** How often an agent's everyday work stops for a question: at most 5 %. docs/reference/asking.md is what this found, written with `vitest -u`. */
const MOST = 0.05;

const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};

const lines = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(new URL(`../../test/corpora/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const sets: readonly { readonly name: string; readonly commands: readonly string[] }[] = [
  {
    name: 'Everyday commands of the case file',
    commands: lines('commands.jsonl').flatMap(({ id, command, retired }) =>
      String(id).startsWith('cmd-benign') && typeof command === 'string' && retired === undefined ? [command] : [],
    ),
  },
  ...lines('sessions.jsonl').map(({ id, commands }) => ({
    name: `Session: ${String(id).slice('session-'.length)}`,
    commands: commands as string[],
  })),
];

const asked = sets.map(({ name, commands }) => {
  const stopped = commands.flatMap((command) => {
    const { verdict, effects, opens } = decide(assessCommand(command, context), { classes: {}, deny: [], prompt: [], allow: [] });
    return verdict === 'prompt' || verdict === 'deny' ? [{ command, verdict, effects, opens }] : [];
  });
  return { name, count: commands.length, stopped };
});
const total = { count: sum(asked.map(({ count }) => count)), stopped: sum(asked.map(({ stopped }) => stopped.length)) };

it('asks for at most one everyday command in twenty, and denies none', () => {
  expect(total.count).toBeGreaterThan(250);
  expect(asked.flatMap(({ stopped }) => stopped).filter(({ verdict }) => verdict === 'deny')).toEqual([]);
  expect(total.stopped / total.count).toBeLessThanOrEqual(MOST);
});

it('asks no more in a tainted Run: only Grants stop answering there, and these commands had none', async () => {
  const rows = asked.map(({ name, count, stopped }) => `| ${name} | ${count} | ${stopped.length} | ${percent(stopped.length, count)} |`);
  const each = asked
    .flatMap(({ stopped }) => stopped)
    .map(({ command, effects, opens }) => {
      const open = opens.map(describeOpening).join('; ') || 'nothing: it works within what every run has';
      return `- \`${command}\`: ${effects.filter((one) => one !== 'safe').join(', ')}. A yes opens ${open}.`;
    });
  const text = [
    '# How often Writ asks',
    '',
    'Shell commands of an agent at everyday work, judged with the default policy and no Grant. A verdict does not depend on taint: in a Run that',
    'untrusted text has reached, Grants stop answering for the network, installs, credentials and persistence, so there every command below asks each',
    'time, while untainted a Grant can answer all of them but `credential_access`. The sessions were written by hand after what coding agents run; they are',
    'no recordings.',
    '',
    '| commands | count | ask | share |',
    '| --- | --- | --- | --- |',
    ...rows,
    `| **all** | ${total.count} | ${total.stopped} | ${percent(total.stopped, total.count)} |`,
    '',
    'The ones that ask, and what a yes opens for that one run (`test/approvals/` shows for each kind that it then works). The card has more than these',
    'words where files say more: hosts of the remotes of a repository, of registries that a project names, and of the cluster of a kubeconfig.',
    '',
    ...each,
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../../docs/reference/asking.md');
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => left + right, 0);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
