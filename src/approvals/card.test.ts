import { describe, expect, test } from 'vitest';
import { decisionOf } from '../../test/helpers/approvals.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import type { Decision } from '../policy/types.ts';
import { buildCard, CARD_BYTES, type CardParts, fitsOnCard } from './card.ts';

const SECRET = 'ghp_FakeToken0FakeToken0FakeToken0FakeTo';
const redactor = createRedactor();
const card = (more: Partial<CardParts> = {}) =>
  buildCard(
    {
      tool: 'shell',
      what: 'true',
      cwd: '/w',
      workspace: '/w',
      agent: 'agent_local',
      decision: decisionOf(),
      origins: [],
      grants: [],
      ...more,
    },
    redactor,
  );

describe('what a person sees', () => {
  test.each([
    ['right-to-left override', '\u202e', '\\u{202e}'],
    ['isolate', '\u2066', '\\u{2066}'],
    ['zero width space', '\u200b', '\\u{200b}'],
    ['soft hyphen', '\u00ad', '\\u{ad}'],
    ['tag letter', '\u{e0041}', '\\u{e0041}'],
    ['variation selector', '\ufe0f', '\\u{fe0f}'],
    ['hangul filler', '\u3164', '\\u{3164}'],
    ['braille blank', '\u2800', '\\u{2800}'],
    ['no-break space', '\u00a0', '\\u{a0}'],
    ['carriage return', '\r', '\\r'],
    ['escape', '\u001b[2J', '\\u{1b}[2J'],
    ['line separator', '\u2028', '\\u{2028}'],
    ['lone surrogate', '\ud800', '\\u{d800}'],
    ['private use', '\ue000', '\\u{e000}'],
  ])('%s is an escape in every text of the card', (_, char, escaped) => {
    const finding: Decision['findings'][number] = { effect: 'install', span: [0, 1], argv: [], reason: `r${char}r` };
    const shown = card({
      what: `a${char}b`,
      cwd: `/w${char}`,
      workspace: `/w${char}`,
      agent: `x${char}`,
      client: `c${char}`,
      description: `d${char}`,
      origins: [`file:/o${char}`],
      decision: decisionOf({ findings: [finding] }),
    });
    expect(shown.what).toBe(`a${escaped}b`);
    expect(JSON.stringify(shown)).not.toContain(JSON.stringify(char).slice(1, -1).replace('\\r', '\\\\\\r'));
    for (const text of [shown.cwd, shown.workspace, shown.agent, shown.client, shown.description, shown.origins[0], shown.reasons[0]]) {
      expect(text).toContain(escaped);
    }
  });

  test('other scripts stay readable, lines stay lines', () => {
    expect(card({ what: 'écho 日本語\nзапуск' }).what).toBe('écho 日本語\nзапуск');
  });

  test('secrets are masked everywhere, also where an escape stands beside them', () => {
    const opens = [{ type: 'path', path: `/tmp/${SECRET}`, access: 'read' }] as const;
    const shown = card({
      what: `curl -H 'Authorization: Bearer ${SECRET}'\u200b`,
      description: SECRET,
      origins: [`file:/${SECRET}`],
      decision: decisionOf({ opens, findings: [{ effect: 'install', span: [0, 1], argv: [], reason: `reads ${SECRET}` }] }),
      grants: [{ type: 'command', digest: 'sha256:x', text: `echo ${SECRET}` }],
    });
    expect(JSON.stringify(shown)).not.toContain('FakeToken');
    expect(shown.opens).toMatchObject([{ path: '/tmp/[redacted:github_token]' }]);
  });

  test('a secret is masked before a long text is cut: no half of one is left', () => {
    const what = `${'x'.repeat((CARD_BYTES / 4) * 3 - 20)} ${SECRET} ${'y'.repeat(CARD_BYTES)}`;
    expect(card({ what }).what).not.toContain('ghp_');
  });

  test('a text that is too long keeps beginning and end, and counts what is missing', () => {
    const what = `begin ${'é'.repeat(CARD_BYTES)} end`;
    const shown = card({ what }).what;
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(CARD_BYTES);
    expect(shown).toMatch(/^begin é[\s\S]* end$/);
    expect(shown).not.toContain('\uFFFD');
    const missing = Number(/\[\.\.\. (\d+) characters/.exec(shown)?.[1]);
    expect(shown.replace(/\n\[\.\.\..*\]\n/, '').length + missing).toBe(what.length);
  });

  test('lists are bounded and say so; what would open more than can be shown does not fit', () => {
    const findings = Array.from({ length: 40 }, (_, i) => ({ effect: 'install', span: [0, 1], argv: [], reason: `reason ${i}` }) as const);
    const shown = card({ decision: decisionOf({ findings }), origins: Array.from({ length: 30 }, (_, i) => `host:${i}`) });
    expect([shown.reasons.at(-1), shown.origins.at(-1)]).toEqual(['and 20 more', 'and 10 more']);
    const hosts = Array.from({ length: 51 }, (_, i) => `h${i}.example`);
    expect(fitsOnCard(decisionOf({ opens: [{ type: 'hosts', hosts, presets: [] }] }))).toBe(false);
  });
});
