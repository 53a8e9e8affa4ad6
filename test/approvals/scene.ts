import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ApprovalRecord, Decider, Reply } from '../../src/approvals/types.ts';
import { type Bed, makeBed } from '../../src/execution/containment/testing.ts';
import { makeSite, type Site } from '../../src/execution/network/testing-site.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import type { Opening } from '../../src/policy/types.ts';
import { serveGit } from './git-server.ts';
import { openWhole, type Whole } from './whole.ts';

/** A machine with a network of its own, Writ on it as it is composed for an agent, and a person at its page. */
export interface Scene {
  readonly bed: Bed;
  readonly site: Site;
  readonly whole: Whole;
  /** A folder that no run has; not below /tmp, which a run has of its own, where the checkout can be written. */
  readonly outside: string;
  shell(command: string): Promise<GateAnswer>;
  /** The call, and what a person says to the question that it makes. */
  answered(call: Promise<GateAnswer>, reply: Omit<Reply, 'word'>): Promise<Asked>;
  /** All of it with a person there who says yes to the one question. */
  withYes(command: string): Promise<Asked>;
  fromQuestionToSuccess(way: Way): Promise<string>;
  close(): Promise<void>;
}

export interface Asked {
  readonly card: ApprovalRecord['card'];
  readonly answer: GateAnswer;
  readonly id: string;
}

export interface Way {
  readonly command: string;
  readonly opens: readonly Opening[];
  /** What only success says. */
  readonly says: string;
}

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/writ-tests', import.meta.url));
export const hasOutside = !/^\/(var\/)?tmp\//.test(CACHE) && works('mkdir', '-p', CACHE) && works('test', '-w', CACHE);
export function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
export const has = (program: string): boolean => existsSync(`/usr/bin/${program}`);

const PROGRAMS = ['/usr/local/bin', '/usr/bin', '/bin'];
const PERSON: Decider = { channel: 'page', who: 'dev' };
const wait = { timeout: 30_000, interval: 20 };

export const codeOf = (answer: GateAnswer): string => (answer.type === 'refused' ? answer.code : answer.type);
export const textOf = (answer: GateAnswer): string => (answer.type === 'result' ? answer.output.text : JSON.stringify(answer));
const exitOf = (answer: GateAnswer): unknown => (answer.type === 'result' ? answer.output.structured['exit_code'] : answer);

/** `names`: hosts beside those whose neighbour must stay closed. `path`: folders of programs beside those of the system. */
export async function openScene({
  names = [],
  path = [],
}: {
  readonly names?: readonly string[];
  readonly path?: readonly string[];
} = {}): Promise<Scene> {
  const bed = makeBed();
  const outside = hasOutside ? mkdtempSync(join(CACHE, 'outside-')) : bed.folder('outside');
  const git = bed.folder('git');
  const all = ['www.example.com', 'neighbour.example.com', 'git.example.com', ...names];
  const site = await makeSite({
    folder: bed.folder('site'),
    ca: join(bed.workspace, 'ca.pem'),
    names: all,
    handle: (request, response) => {
      if (request.headers.host !== 'git.example.com') return false;
      serveGit(git, request, response);
      return true;
    },
  });
  for (const name of all) site.publish(`${name}/file`, `a file of ${name}\n`);
  bed.file('people/dev/.aws/credentials', 'the secret that was asked for\n');
  bed.file('people/dev/.aws/config', 'another secret\n');
  writeFileSync(join(outside, 'notes.txt'), 'old\n');
  writeFileSync(join(outside, 'neighbour.txt'), 'untouched\n');
  bed.file(
    join(bed.workspace, 'neighbours'),
    `curl -sS -m 20 --cacert ${site.ca} https://neighbour.example.com/file && echo OPEN host
     cat ${bed.user_home}/.aws/config && echo OPEN secret
     cat ${outside}/neighbour.txt && echo OPEN file
     echo touched >> ${outside}/neighbour.txt
     echo neighbours were tried`,
  );
  const docker = await serveDocker(bed);
  const host_env = { ...bed.config.host_env, PATH: [...path, ...PROGRAMS, join(bed.base, 'bin')].join(':') };
  const whole = await openWhole({ ...bed, config: { ...bed.config, host_env } }, site.places);
  const shell = (command: string): Promise<GateAnswer> => whole.call('shell', { command });

  async function answered(call: Promise<GateAnswer>, reply: Omit<Reply, 'word'>): Promise<Asked> {
    await expect.poll(() => whole.approvals.list({ state: 'pending' }), wait).toHaveLength(1);
    const [record] = await whole.approvals.list({ state: 'pending' });
    if (record === undefined) throw new Error('nothing was asked');
    const { word } = record.card;
    const said = await whole.approvals.answer(record.id, { ...reply, ...(word === undefined ? {} : { word }) }, PERSON);
    expect(said).toMatchObject({ ok: true });
    return { card: record.card, answer: await call, id: record.id };
  }

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const watching = whole.approvals.attend('page');
    await watching.ready;
    try {
      return await work();
    } finally {
      await watching.close();
    }
  }

  async function fromQuestionToSuccess({ command, opens, says }: Way): Promise<string> {
    const uncontained = opens.some(({ type }) => type === 'uncontained');
    // The same words in a file are code of the project: contained, nobody is asked, and it doesn't work.
    writeFileSync(join(bed.workspace, 'contained'), command);
    const contained = await shell('bash ./contained');
    expect([codeOf(contained), exitOf(contained) === 0 && textOf(contained)]).toEqual(['result', false]);
    expect(textOf(contained)).not.toContain(says);

    const all = uncontained ? command : `${command} && sh ${bed.workspace}/neighbours`;
    expect(codeOf(await shell(all))).toBe('no_channel');
    return watched(async () => {
      const yes = await answered(shell(all), { decision: 'approve' });
      expect(yes.card).toMatchObject({ what: all, cwd: bed.workspace });
      expect(yes.card.opens).toEqual(opens);
      expect([textOf(yes.answer), exitOf(yes.answer)]).toEqual([expect.stringContaining(says), 0]);
      if (!uncontained) {
        expect(textOf(yes.answer)).toContain('neighbours were tried');
        expect(textOf(yes.answer)).not.toContain('OPEN');
        expect(readFileSync(join(outside, 'neighbour.txt'), 'utf8')).toBe('untouched\n');
      }
      const again = await answered(shell(all), { decision: 'deny' });
      expect([again.id === yes.id, codeOf(again.answer)]).toEqual([false, 'denied_by_human']);
      expect((await whole.approvals.get(yes.id))?.state).toBe('used');
      return textOf(yes.answer);
    });
  }

  return {
    bed,
    site,
    whole,
    outside,
    shell,
    answered,
    withYes: (command) => watched(() => answered(shell(command), { decision: 'approve' })),
    fromQuestionToSuccess,
    async close() {
      await whole.close();
      site.close();
      docker.close();
      bed.remove();
      rmSync(outside, { recursive: true, force: true });
    },
  };
}

export const hosts = (...named: readonly string[]): readonly Opening[] => [{ type: 'hosts', hosts: named, presets: [] }];
export const preset = (name: string): readonly Opening[] => [{ type: 'hosts', hosts: [], presets: [name] }];

/** A container service at the socket that the person's own settings name, for the real client; where there is none, for one of our own. */
async function serveDocker(bed: Bed): Promise<Server> {
  const socket = join(bed.folder('people/dev/.docker'), 'service.sock');
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('api-version', '1.43');
    const containers = [
      { Id: 'c'.repeat(64), Names: ['/my-container'], Image: 'left', Command: 'x', Created: 1, State: 'running', Status: 'Up', Ports: [] },
    ];
    response.end(request.url?.includes('/containers/json') ? JSON.stringify(containers) : '"OK"');
  });
  await new Promise<void>((done) => server.listen(socket, done));
  const place = `contexts/meta/${createHash('sha256').update('mine').digest('hex')}/meta.json`;
  const endpoints = { docker: { Host: `unix://${socket}`, SkipTLSVerify: false } };
  bed.file(`people/dev/.docker/${place}`, JSON.stringify({ Name: 'mine', Metadata: {}, Endpoints: endpoints }));
  bed.file('people/dev/.docker/config.json', '{"currentContext":"mine"}');
  if (!PROGRAMS.some((folder) => existsSync(join(folder, 'docker'))))
    bed.file('bin/docker', '#!/bin/sh\nexec curl -sS --unix-socket "$HOME/.docker/service.sock" http://docker/containers/json', 0o755);
  return server;
}
