import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssessContext, assessCommand, decide } from '../index.ts';

/** A machine with symbolic links: [link, target]. */
function machine(links: Readonly<Record<string, string>>, more: Partial<AssessContext> = {}): AssessContext {
  const realpath = (path: string): string => {
    for (const [from, to] of Object.entries(links)) if (path === from || path.startsWith(`${from}/`)) return to + path.slice(from.length);
    return path;
  };
  return { cwd: '/home/dev/app', home: '/home/dev', workspaces: ['/home/dev/app'], facts: { realpath, which: () => undefined }, ...more };
}

const judge = (text: string, context: AssessContext) => {
  const assessment = assessCommand(text, context);
  return { ...decide(assessment, { classes: {}, deny: [], prompt: [], allow: [] }), effects: assessment.effects };
};

describe('symbolic links of the machine', () => {
  const context = machine({
    '/home/dev/app/etc': '/etc',
    '/home/dev/app/keys': '/home/dev/.ssh',
    '/home/dev/app/inner': '/home/dev/app/src/deep',
    '/home/dev/.bashrc': '/home/dev/app/dotfiles/bashrc',
  });

  it('writes and removals go where the link leads', () => {
    expect(judge('echo x > etc/motd', context).effects).toContain('system_write');
    expect(judge('rm -rf etc/x', context).verdict).toBe('deny');
    expect(judge('cat keys/id_rsa', context).effects).toContain('credential_access');
    expect(judge('echo x > inner/a.ts', context).verdict).toBe('allow');
  });

  it('the name as written counts, too', () => {
    expect(judge('echo x >> ~/.bashrc', context).effects).toContain('persistence');
  });

  it('`..` behind a link is the parent of its target', () => {
    expect(judge('rm -rf etc/../opt', context).verdict).toBe('deny');
    // By the link it is inside, as written it is not: the stricter of both counts.
    expect(judge('rm -rf inner/../../x', context).verdict).toBe('deny');
    expect(judge('rm -rf inner/../x', context).verdict).toBe('prompt');
  });

  it('a link made by the command itself is followed', () => {
    expect(judge('ln -s /etc e && echo x > e/motd', context).effects).toContain('system_write');
    expect(judge('ln -s ~/.ssh k; cat k/id_rsa', context).effects).toContain('credential_access');
    expect(judge('ln -s src s && touch s/a', context).verdict).toBe('allow');
  });
});

describe('component boundaries', () => {
  const context = machine({});

  it.each([
    ['rm -rf /home/dev/app2', 'deny'],
    ['rm -rf /home/dev/app/../app2', 'deny'],
    ['rm -rf /tmpfoo', 'deny'],
    ['touch /home/dev/appendix', 'prompt'],
    ['touch /home/dev/app/./x//y', 'allow'],
    ['touch /tmp/../home/dev/app/x', 'allow'],
    ['rm -rf node_modules_old', 'prompt'],
    ['rm -rf node_modules', 'allow'],
    ['rm -rf dist/..', 'prompt'],
    ['rm -rf packages/*/dist', 'allow'],
    ['rm -rf .*/dist', 'prompt'],
    ['rm -rf .[.]/dist', 'prompt'],
    ['rm -rf */..', 'prompt'],
    ['cat .env.example', 'allow'],
    ['cat .env.examples', 'prompt'],
    ['cat src/env.ts', 'allow'],
    ['cat ~/.sshrc', 'prompt'],
    ['ls ~', 'allow'],
    ['ls -la .env', 'allow'],
    ['cat .e*', 'prompt'],
    ['cat *.json', 'allow'],
    ['cat *', 'allow'],
    ['cat .*', 'prompt'],
    ['cat ~/.ssh/*.pub', 'prompt'],
    ['touch .git/index', 'allow'],
    ['touch .git/hooks/x', 'prompt'],
    ['touch sub/.git/hooks/x', 'prompt'],
    ['touch .github/x', 'allow'],
    ['mkdir -p .vscode', 'prompt'],
  ])('%s: %s', (text, verdict) => expect(judge(text, context).verdict).toBe(verdict));
});

describe('several workspaces', () => {
  const context = machine({}, { workspaces: ['/home/dev/app', '/srv/other'] });

  it('all of them may be written', () => {
    expect(judge('touch /srv/other/x', context).verdict).toBe('allow');
    expect(judge('rm -rf /srv/other', context).verdict).toBe('prompt');
    expect(judge('rm -rf /srv', context).verdict).toBe('deny');
    expect(judge('cp -r /srv/other/src .', context).verdict).toBe('allow');
  });

  it('a read-only folder is no hidden one', () => {
    const reading = machine({}, { readable: ['/srv/docs'] });
    expect(judge('cat /srv/docs/a', reading).verdict).toBe('allow');
    expect(judge('cat /srv/docs/.env', reading).verdict).toBe('prompt');
    expect(judge('touch /srv/docs/a', reading).verdict).toBe('prompt');
  });
});

describe('names that stand for programs of the workspace', () => {
  it('are not trusted by their name', () => {
    const context = machine(
      {},
      { facts: { realpath: (path) => path, which: (name) => (name === 'ls' ? '/home/dev/app/node_modules/.bin/ls' : undefined) } },
    );
    expect(judge('ls', context).effects).toContain('code_execution');
    expect(judge('cat a', context).verdict).toBe('allow');
  });
});

describe('facts that are not known', () => {
  it('leave the path as written', () => {
    const context = machine({}, { facts: { realpath: () => undefined, which: () => undefined } });
    expect(judge('touch a', context).verdict).toBe('allow');
    expect(judge('touch ../../a', context).verdict).toBe('prompt');
  });
});

describe('a workspace below a temporary folder', () => {
  const context = machine({}, { cwd: '/tmp/ws-1/app', workspaces: ['/tmp/ws-1/app'] });

  it.each([
    ['rm -f /tmp/tally-*.json', 'allow'],
    ['rm -rf /tmp/out-*', 'allow'],
    ['rm -rf /tmp/a*/other', 'allow'],
    ['rm -rf /tmp/*', 'deny'],
    ['rm -rf /tmp/w*', 'deny'],
    ['rm -rf /tmp/*/app', 'deny'],
    ['rm -rf /tmp/*/app/src', 'deny'],
    ['rm -rf /tmp/*/*/src', 'deny'],
    ['shopt -s globstar; rm -rf /tmp/**/src', 'deny'],
    ['shopt -s nocaseglob; rm -rf /tmp/W?-1', 'deny'],
    ['shopt -s extglob; rm -rf /tmp/@(x|ws-1)', 'deny'],
    ['shopt -s extglob; rm -rf /tmp/!(x)', 'deny'],
    ['rm -rf /tmp/{x,ws-1}', 'deny'],
    ['rm -rf /tmp/ws-1', 'deny'],
  ])('is no temporary file, and a pattern that can not mean it is: %s', (command, verdict) => {
    expect(judge(command, context).verdict).toBe(verdict);
  });

  it('is reached by whatever pattern is made of its path', () => {
    const pieces = (name: string): fc.Arbitrary<string> =>
      fc
        .array(fc.constantFrom('?', '*', 'same', 'bracket'), { minLength: name.length, maxLength: name.length })
        .map((ways) => ways.map((way, i) => (way === 'same' ? name[i] : way === 'bracket' ? `[xyz${name[i]}]` : way)).join(''));
    fc.assert(
      fc.property(pieces('ws-1'), pieces('app'), fc.constantFrom('', '/src', '/*'), (one, two, rest) => {
        for (const path of [`/tmp/${one}`, `/tmp/${one}/${two}${rest}`])
          expect([path, judge(`rm -rf ${path}`, context).verdict]).not.toEqual([path, 'allow']);
      }),
      { numRuns: 300 },
    );
  });
});
