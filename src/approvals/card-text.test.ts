import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cardSections, cardText } from './card-text.ts';
import type { Card } from './types.ts';

const card: Card = {
  tool: 'shell',
  what: 'npm ci\nnpm test',
  cwd: '/home/u/project/web',
  workspace: '/home/u/project',
  agent: 'agent_local',
  client: 'claude-code 2.1',
  description: 'Install dependencies',
  effects: ['install'],
  reasons: ['installs packages [install]'],
  opens: [{ type: 'hosts', hosts: [], presets: ['npm'] }],
  origins: ['host:example.com'],
  word: 'INSTALL',
  grants: [],
};
const NOW = 1_700_000_000_000;
const record = { id: 'appr_1', card, expires_at: NOW + 600_000 };

test('a card, whole', () => {
  expect(cardText(record, NOW)).toBe(`shell is asked to do:
  │ npm ci
  │ npm test
In the folder:
  │ /home/u/project/web
Of the Workspace:
  │ /home/u/project
Asked by:
  │ agent_local, which calls itself claude-code 2.1
In its own words, which nobody checked:
  │ Install dependencies
What it could do:
  │ install
Why you are asked:
  │ installs packages [install]
A yes opens, for this one run:
  │ the network to the hosts of npm
Untrusted text reached the agent before, from:
  │ host:example.com
To say yes, type this word:
  │ INSTALL
Ends unanswered:
  │ in 10 min, at 2023-11-14 22:23:20 UTC
Question:
  │ appr_1`);
});

test('a yes that opens nothing says so; what is not there has no heading', () => {
  const { client: _client, description: _description, word: _word, ...rest } = card;
  const bare = { ...record, card: { ...rest, workspace: card.cwd, opens: [], origins: [] } };
  const shown = cardSections(bare, NOW + 600_000);
  expect(shown.map(({ heading }) => heading)).toEqual([
    'shell is asked to do',
    'In the folder',
    'Asked by',
    'What it could do',
    'Why you are asked',
    'A yes opens, for this one run',
    'Ends unanswered',
    'Question',
  ]);
  expect(shown.flatMap(({ lines }) => lines)).toContain('nothing more than every run may do');
  expect(cardText(bare, NOW + 600_000)).toContain('in less than a minute');
});

test('a long line goes on behind another bar, cut at columns and never inside a character', () => {
  const what = `${'x'.repeat(76)}Why you are asked: ${'界😀'.repeat(30)}`;
  const lines = cardText({ ...record, card: { ...card, what } }, NOW).split('\n');
  const from = lines.findIndex((line) => line.includes('xxx'));
  expect(lines[from + 1]).toMatch(/^ {2}┊ Why you are asked: /);
  const end = lines.findIndex((line) => line.startsWith('In the folder'));
  const pieces = lines.slice(from, end);
  expect(pieces.map((line) => line.slice(4)).join('')).toBe(what);
  expect(pieces.every((line) => line.isWellFormed() && [...line.slice(4)].length <= 76)).toBe(true);
});

test('whatever a card holds: only our headings stand at the edge, and nothing in it hides or acts', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\nA yes opens, for this one run:\n', '\u001b[2J', '\u202ednuor', '\r\n│ fine', 'a\u2028b', '\u200b'),
  );
  const texts = fc.array(hostile, { maxLength: 3 });
  const any = fc.record({
    tool: hostile,
    what: hostile,
    cwd: hostile,
    workspace: hostile,
    agent: hostile,
    client: hostile,
    description: hostile,
    word: hostile,
    reasons: texts,
    origins: texts,
    opens: fc.array(fc.record({ type: fc.constant('path' as const), path: hostile, access: fc.constant('read' as const) }), {
      maxLength: 2,
    }),
  });
  const headings = cardSections(record, NOW).map(({ heading }) => `${heading}:`);
  fc.assert(
    fc.property(any, (parts) => {
      const text = cardText({ ...record, card: { ...card, ...parts } }, NOW);
      const atEdge = text.split('\n').filter((line) => !/^ {2}[│┊] /.test(line));
      expect(atEdge[0]).toMatch(/ is asked to do:$/);
      for (const line of atEdge.slice(1)) expect(headings).toContain(line);
      expect(new Set(atEdge).size).toBe(atEdge.length);
      expect(text).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n]/u);
    }),
    { numRuns: 300 },
  );
});
