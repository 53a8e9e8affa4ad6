import { expect, test } from 'vitest';
import { assessCommand, decide } from '../index.ts';

const INSTALLED = new Set(['/w/node_modules/.bin/mytool', '/w/packages/a/node_modules/.bin/own', '/node_modules/.bin/above']);

function verdictOf(command: string, cwd = '/w/packages/a'): string {
  const facts = {
    realpath: (path: string) => path,
    which: (name: string) => (INSTALLED.has(name) ? name : undefined),
  };
  return decide(assessCommand(command, { cwd, home: '/home/dev', workspaces: ['/w'], facts }), {
    classes: {},
    deny: [],
    prompt: [],
    allow: [],
  }).verdict;
}

test.each(['npx mytool --fix', 'npx own', 'bunx mytool', 'npm exec mytool', 'cd /w && npx mytool', 'npx --yes mytool'])(
  '%s: what the project has installed is started, and nothing is fetched',
  (command) => expect(verdictOf(command)).toBe('contained'),
);

test.each([
  'npx absent',
  // Neither a version nor a package by another name is what is installed; pnpx always fetches.
  'npx mytool@latest',
  'npx -p other mytool',
  'npx @scope/mytool',
  'pnpx mytool',
  // Only there, where the agent may not write, or not there at all.
  'npx above',
  'cd /w && npx own',
  'cd "$somewhere" && npx mytool',
  'npx ../../mytool',
])('%s: is asked about', (command) => expect(verdictOf(command)).toBe('prompt'));

test('an installed program that is known for more is judged by its name', () => {
  INSTALLED.add('/w/node_modules/.bin/rm');
  expect(verdictOf('npx rm -rf ~')).toBe('deny');
});
