import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mayBeGranted } from '../../src/approvals/grant-offers.ts';
import { type AssessContext, assessCommand, assessPaths, type Decision, decide, describeOpening } from '../../src/policy/index.ts';
import type { Assessment, PathUse, Verdict } from '../../src/policy/types.ts';

/** How often an agent's everyday work stops for a question: at most 5 %. docs/reference/asking.md is what this found, written with `vitest -u`. */
const MOST = 0.05;
const HOSTS = ['claude-code', 'codex', 'gemini-cli', 'opencode', 'qwen-code'];

interface Recorded {
  readonly tool: string;
  readonly arguments: { readonly command?: string; readonly cwd?: string; readonly path?: string };
  readonly verdict: Verdict;
}

const CORPORA = new URL('../corpora/', import.meta.url);
const lines = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(new URL(name, CORPORA), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const contextIn = (workspace: string, cwd = workspace): AssessContext => ({
  cwd,
  home: '/home/dev',
  workspaces: [workspace],
  facts: { realpath: (path) => path, which: () => undefined },
});

const USES: Readonly<Record<string, readonly PathUse['access'][]>> = {
  read_file: ['read'],
  search_files: ['read'],
  write_file: ['write'],
  patch: ['read', 'write'],
};

/** As the tools of that name judge their calls. */
function assess({ tool, arguments: args }: Recorded): Assessment {
  const workspace = '/work/project';
  const { command, cwd, path = '.' } = args;
  if (command !== undefined) return assessCommand(command, contextIn(workspace, cwd === undefined ? workspace : inside(workspace, cwd)));
  const uses = (USES[tool] ?? []).map((access): PathUse => ({ access, path }));
  // The rest looks at, or ends, what already belongs to the caller.
  return assessPaths(tool, uses, contextIn(workspace));
}

function inside(workspace: string, cwd: string): string {
  if (cwd.startsWith('/')) return cwd;
  return cwd === '.' ? workspace : `${workspace}/${cwd}`;
}

const judge = (assessment: Assessment): Decision => decide(assessment, { classes: {}, deny: [], prompt: [], allow: [] });

interface Stopped {
  readonly what: string;
  readonly decision: Decision;
}

interface Work {
  readonly name: string;
  readonly count: number;
  readonly stopped: readonly Stopped[];
}

function workOf(name: string, calls: readonly { readonly what: string; readonly assessment: Assessment }[]): Work {
  const judged = calls.map(({ what, assessment }) => ({ what, decision: judge(assessment) }));
  return { name, count: calls.length, stopped: judged.filter(({ decision }) => ['prompt', 'deny'].includes(decision.verdict)) };
}

const recordings = readdirSync(new URL('sessions/', CORPORA))
  .sort()
  .map((file) => {
    const [head, ...calls] = lines(`sessions/${file}`);
    return { host: String(head?.['host']), version: String(head?.['version']), calls: calls as unknown as readonly Recorded[] };
  });
const recorded = recordings.map(({ host, version, calls }) =>
  workOf(
    `${host} ${version}`,
    calls.map((call) => ({ what: call.arguments.command ?? `${call.tool} ${call.arguments.path ?? ''}`, assessment: assess(call) })),
  ),
);

const byHand = [
  {
    name: 'Everyday commands of the case file',
    commands: lines('commands.jsonl').flatMap(({ id, command, retired }) =>
      String(id).startsWith('cmd-benign') && typeof command === 'string' && retired === undefined ? [command] : [],
    ),
  },
  ...lines('sessions.jsonl').map(({ id, commands }) => ({
    name: String(id).replace('session-', 'Session: '),
    commands: commands as string[],
  })),
].map(({ name, commands }) =>
  workOf(
    name,
    commands.map((command) => ({ what: command, assessment: assessCommand(command, contextIn('/home/dev/app')) })),
  ),
);

/** A Grant for everything that may have one. */
const left = (stopped: readonly Stopped[], tainted: boolean): number =>
  stopped.filter(({ decision }) => !mayBeGranted(decision, tainted)).length;

function together(name: string, works: readonly Work[]): Work {
  return { name, count: works.reduce((sum, { count }) => sum + count, 0), stopped: works.flatMap(({ stopped }) => stopped) };
}
const allRecorded = together('**all recorded**', recorded);
const allByHand = together('**all by hand**', byHand);

it('there is a session of every host, and what it was judged then it is judged now', () => {
  expect(recordings.map(({ host }) => host)).toEqual(HOSTS);
  for (const { host, calls } of recordings) {
    expect([host, calls.length >= 40]).toEqual([host, true]);
    const other = calls.filter((call) => judge(assess(call)).verdict !== call.verdict);
    expect([host, other.map((call) => [call.arguments, call.verdict, judge(assess(call)).verdict])]).toEqual([host, []]);
  }
});

it.each([allRecorded, allByHand])('asks for at most one call in twenty, and denies none: $name', ({ count, stopped }) => {
  expect(count).toBeGreaterThan(200);
  expect(stopped.filter(({ decision }) => decision.verdict === 'deny')).toEqual([]);
  expect(stopped.length / count).toBeLessThanOrEqual(MOST);
  // Taint makes no new questions; it takes answers away.
  expect(left(stopped, false)).toBeLessThanOrEqual(left(stopped, true));
  expect(left(stopped, true)).toBeLessThanOrEqual(stopped.length);
});

it('is what docs/reference/asking.md says', async () => {
  const row = ({ name, count, stopped }: Work): string =>
    `| ${name} | ${count} | ${stopped.length} | ${percent(stopped.length, count)} | ${percent(left(stopped, false), count)} | ${percent(left(stopped, true), count)} |`;
  const table = (what: string, works: readonly Work[]): readonly string[] => [
    `| ${what} | count | ask | share | untainted, with Grants | tainted, with Grants |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...works.map(row),
  ];
  const each = (stopped: readonly Stopped[]): readonly string[] =>
    stopped.map(({ what, decision: { effects, opens } }) => {
      const found = effects.filter((one) => one !== 'safe').join(', ');
      const open = opens.map(describeOpening).join('; ') || 'nothing: it works within what every run has';
      return `- \`${what.split('\n', 1)[0]}\`: ${found === '' ? 'a file that containment hides' : found}. A yes opens ${open}.`;
    });
  const text = [
    '# How often Writ asks',
    '',
    'Calls of an agent at everyday work, judged with the default policy. "ask" is without any Grant; a verdict does not depend on taint, so that is the',
    'same whether or not untrusted text has reached the Run. "with Grants" is what still asks where a person has given every Grant that can be',
    'given: none for what destroys or reads credentials, and in a tainted Run none counts for the network and installs.',
    '',
    '## Recorded',
    '',
    'Five real agents, each through a session in a small project with JavaScript, Python and git: reading, searching, editing, tests, builds, a server as a',
    'job, commits. The agents and all between them and Writ are real; their model is scripted, with calls in the manner of each agent, so what it asks for was',
    'chosen by people. Recorded from the audit (`npm run test:hosts record-sessions`, `test/corpora/sessions/`). Nobody was there to be asked.',
    '',
    ...table('calls of', [...recorded, allRecorded]),
    '',
    'The ones that ask, and what a yes opens for that one run:',
    '',
    ...each(allRecorded.stopped),
    '',
    '## Written by hand',
    '',
    'Shell commands as coding agents run them; no recordings.',
    '',
    ...table('commands', [...byHand, allByHand]),
    '',
    'The ones that ask, and what a yes opens for that one run (`test/approvals/` shows for each kind that it then works). The card has more than these',
    'words where files say more: hosts of the remotes of a repository, of registries that a project names, and of the cluster of a kubeconfig.',
    '',
    ...each(allByHand.stopped),
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../../docs/reference/asking.md');
});

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
