import fc from 'fast-check';
import { expect, it } from 'vitest';
import { environment } from './environment.ts';

const base = {
  home: '/home/dev',
  user_name: 'dev',
  path: ['/usr/bin', '/bin'],
  dropped: new Set<string>(),
  toolchain_env: {},
  git_config_write: false,
};
const of = (host_env: Record<string, string>, env_pass: readonly string[] = [], more: Partial<Parameters<typeof environment>[0]> = {}) =>
  environment({ ...base, config: { host_env, env_pass }, ...more });

const OWN = ['.npm-global/bin', '.local/bin', '.cargo/bin', 'go/bin'].map((folder) => `/home/dev/${folder}`).join(':');

it('passes the list and what the operator named, and sets HOME, PATH and the user itself', () => {
  const env = of(
    {
      HOME: '/root',
      PATH: '/evil',
      USER: 'root',
      LANG: 'de_DE.UTF-8',
      LC_TIME: 'C',
      TZ: 'UTC',
      MINE: '1',
      OTHER: '2',
      TERM: 'xterm-kitty',
    },
    ['MINE'],
  );
  expect(env).toMatchObject({
    HOME: '/home/dev',
    PATH: `/usr/bin:/bin:${OWN}`,
    USER: 'dev',
    LANG: 'de_DE.UTF-8',
    LC_TIME: 'C',
    TZ: 'UTC',
    MINE: '1',
    TERM: 'xterm-256color',
  });
  expect(env['OTHER']).toBeUndefined();
});

it('lets nothing through that loads code, even when it was named', () => {
  const names = [
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'BASH_ENV',
    'ENV',
    'BASH_FUNC_ls%%',
    'PYTHONSTARTUP',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'PERL5OPT',
    'WRIT_HOME',
  ];
  const env = of(Object.fromEntries(names.map((name) => [name, 'evil'])), names);
  expect(Object.values(env)).not.toContain('evil');
});

it('never holds a name outside of the lists, whatever the host has', () => {
  const usual = new Set(Object.keys(of({})));
  const listed = /^(PATH|LANG|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|VIRTUAL_ENV|JAVA_HOME|GOPATH|CARGO_HOME|NVM_DIR)$/;
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/), fc.string()), (host) => {
      for (const name of Object.keys(of(host))) expect(usual.has(name) || listed.test(name)).toBe(true);
    }),
  );
});

it('leaves out variables whose folder is not there, and adds what tool chains need', () => {
  const env = of({ JAVA_HOME: '/x', VIRTUAL_ENV: '/y' }, [], {
    dropped: new Set(['JAVA_HOME']),
    toolchain_env: { RUSTUP_HOME: '/r', PATH: 'evil' },
  });
  expect(env).toMatchObject({ VIRTUAL_ENV: '/y', RUSTUP_HOME: '/r', PATH: `/usr/bin:/bin:${OWN}` });
  expect(env['JAVA_HOME']).toBeUndefined();
});

it('has what runs installed for themselves after all else, and not where a path was opened', () => {
  expect(of({}, [], { opened: true })['PATH']).toBe('/usr/bin:/bin');
  expect(of({})['npm_config_prefix']).toBe('/home/dev/.npm-global');
  expect(of({ NVM_DIR: '/home/dev/.nvm' })['npm_config_prefix']).toBeUndefined();
});

it('gives git settings on its command scope, and turns hooks off only for configuration writes', () => {
  const pairs = (env: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Array.from({ length: Number(env['GIT_CONFIG_COUNT']) }, (_, i) => [env[`GIT_CONFIG_KEY_${i}`], env[`GIT_CONFIG_VALUE_${i}`]]),
    );
  expect(pairs(of({}))).toMatchObject({ 'core.fsmonitor': 'false', 'credential.helper': '' });
  expect(pairs(of({}))['core.hooksPath']).toBeUndefined();
  expect(pairs(of({}, [], { git_config_write: true }))['core.hooksPath']).toBe('/dev/null');
});

it('has the size of the terminal, and an editor that never waits where there is none', () => {
  expect(of({})).toMatchObject({ COLUMNS: '120', LINES: '40', GIT_EDITOR: 'true' });
  const pty = of({}, [], { pty: { cols: 80, rows: 24 } });
  expect(pty).toMatchObject({ COLUMNS: '80', LINES: '24' });
  expect(pty['GIT_EDITOR']).toBeUndefined();
});

it('tells programs of the proxy and of further certificates of the system where an allow-list is open, and nowhere else', () => {
  const host = {
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    SSL_CERT_FILE: '/home/dev/my.pem',
    REQUESTS_CA_BUNDLE: '/etc/ssl/../../home/dev/my.pem',
    HTTPS_PROXY: 'http://user:password@proxy.corp:3128',
  };
  const closed = of(host);
  expect(Object.keys(closed).filter((name) => /proxy|cert|bundle/i.test(name))).toEqual([]);
  expect(closed['npm_config_fetch_retries']).toBe('0');
  const open = of(host, [], { proxied: true });
  expect(open).toMatchObject({
    HTTPS_PROXY: 'http://127.0.0.1:17420',
    https_proxy: 'http://127.0.0.1:17420',
    NO_PROXY: 'localhost,127.0.0.1,::1',
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    npm_config_fetch_retries: '2',
  });
  expect(open['SSL_CERT_FILE']).toBeUndefined();
  expect(open['REQUESTS_CA_BUNDLE']).toBeUndefined();
});
