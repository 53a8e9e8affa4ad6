import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderConfigCheck } from '../../cli/config-check.ts';
import { createRedactor } from '../redaction/index.ts';
import { type Config, defaultConfig, explainConfig, type LoadConfigOptions, loadConfig, readProcess } from './index.ts';

const GIB = 1024 ** 3;
const { uid } = readProcess();
const machine = { cores: 2, memory_bytes: 8 * GIB, uid, host_env: {} };
let base = '';
let home = '';
let project = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-config-')));
  home = join(base, 'home');
  project = join(base, 'project');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const operator = (text: string): void => writeFileSync(join(home, 'config.json'), text, { mode: 0o600 });
const ofProject = (text: string): void => writeFileSync(join(project, 'writ.json'), text);
const load = (options: Partial<LoadConfigOptions> = {}, host_env: Record<string, string> = {}) =>
  loadConfig({ ...machine, host_env }, { home, project_dir: project, ...options });
async function loaded(options: Partial<LoadConfigOptions> = {}, host_env: Record<string, string> = {}) {
  const result = await load(options, host_env);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
}
async function problems(): Promise<string> {
  const result = await load();
  if (result.ok) throw new Error('accepted');
  return result.problems.map(({ file, line, message }) => `${file?.split('/').at(-1)}:${line}: ${message}`).join('\n');
}

describe('without files', () => {
  test('it is the defaults, and neither parser nor schema is loaded', async () => {
    expect(await load()).toEqual({ ok: true, config: defaultConfig(machine), provenance: {}, warnings: [], files: [] });
    const script = `import { loadConfig } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ resolve(name, context, next) { seen.push(name); return next(name, context); } });
      await loadConfig({ cores: 1, memory_bytes: 1, uid: 0, host_env: {} }, { home: '/nonexistent-home', project_dir: '/nonexistent' });
      console.log(JSON.stringify(seen));`;
    const seen = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(seen).not.toMatch(/zod|jsonc|combine/);
  });

  test('memory and cores fit the machine', () => {
    expect(defaultConfig({ cores: 2, memory_bytes: 2 * GIB }).sandbox.limits).toMatchObject({ memory_bytes: 1.5 * GIB, cpus: 2 });
    expect(defaultConfig({ cores: 64, memory_bytes: 512 * GIB }).sandbox.limits).toMatchObject({ memory_bytes: 4 * GIB, cpus: 64 });
  });
});

describe('a good file', () => {
  test('may hold comments, trailing commas, a byte order mark, units, and any Claude Code entry', async () => {
    operator(`\uFEFF{
      // mine
      "$schema": "./config.schema.json",
      "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "server"], "env": { "A": "\${B:-c}" }, "unheard_of": { "x": 1 } },
        "web": { "type": "http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${T}" } },
      },
      "sandbox": { "limits": { "memory_bytes": "512 MiB", "pids": 64 } }, /* less */
      "dangerous": { "classes": { "install": "deny" }, "allow": [{ "argv": ["git", ["push", "fetch"], "**"], "reason": "mine" }] },
    }`);
    const { config, provenance, warnings } = await loaded();
    expect(warnings).toEqual([]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    expect(config.mcp_servers['files']).toMatchObject({ source: 'operator', entry: { env: { A: '${B:-c}' }, unheard_of: { x: 1 } } });
    expect(config.sandbox.limits).toMatchObject({ memory_bytes: 512 * 1024 ** 2, pids: 64, cpus: 2 });
    expect(config.dangerous).toMatchObject({
      classes: { install: 'deny' },
      non_interactive: 'deny',
      allow: [{ argv: ['git', ['push', 'fetch'], '**'] }],
    });
    expect(provenance).toMatchObject({
      'sandbox.limits.pids': { source: 'operator', place: `${home}/config.json:8` },
      'dangerous.classes.install': { source: 'operator' },
      'dangerous.allow.0': { source: 'operator' },
      'mcp_servers.web': { source: 'operator', place: `${home}/config.json:6` },
    });
  });

  test.each(['{}', '{"dangerous": {}}', '{"sandbox": {"limits": {}}}'])('may say nothing: %s', async (text) => {
    operator(text);
    expect((await loaded()).config).toEqual(defaultConfig(machine));
  });
});

describe('a bad file means no configuration', () => {
  const cases: readonly (readonly [text: string, says: RegExp])[] = [
    ['', /:1: is empty|:1: is no valid JSON/],
    ['{', /:1: is no valid JSON/],
    ['{\n\n"a" 1}', /:3: is no valid JSON/],
    ['[]', /:1: must hold one object/],
    ['{}{}', /is no valid JSON/],
    ['"text"', /must hold one object/],
    ['[['.repeat(100_000), /levels deep/],
    [`{"a":${'['.repeat(40)}${']'.repeat(40)}}`, /levels deep/],
    ['{\n"log": {},\n"log": {}\n}', /:3: has the key "log" twice: in line 2 and in line 3/],
    ['{"dangerous": {\n"deny": [],\n"deny": []}}', /:3: has the key "deny" twice in dangerous: in line 2 and in line 3/],
    ['{\n"mcp_servers": {},\n"mcpServers": {}}', /:3: has both.*in line 2 and in line 3/],
    ['{"dangerus": {}}', /"dangerus" at the top, which looks like "dangerous"/],
    ['{"Dangerous": {}}', /looks like "dangerous"/],
    ['{"sand-box": {}}', /looks like "sandbox"/],
    ['{"mcpservers": {}}', /looks like "mcp_?[sS]ervers"/],
    ['{"dangerous": {"allways": []}}', /unknown key "allways" in dangerous/],
    ['{"dangerous": {"denny": []}}', /looks like "deny"/],
    ['{"dangerous": {"noninteractive": "allow"}}', /looks like "non_interactive"/],
    ['{"dangerous": {"classes": {"destructve": "deny"}}}', /looks like "destructive"/],
    ['{"dangerous": {"classes": {"anything": "deny"}}}', /unknown key "anything"/],
    ['{"dangerous": {"classes": {"blocked": "allow"}}}', /nothing can change/],
    ['{"dangerous": {"classes": {"install": "denny"}}}', /dangerous\.classes\.install must be one of allow, contained, prompt, deny/],
    ['{"dangerous": {"non_interactive": "yes"}}', /must be one of deny, read_only, allow/],
    ['{"dangerous": {"deny": [{"argv": []}]}}', /dangerous\.deny\.0\.argv must name at least one word/],
    ['{"dangerous": {"deny": [{"argv": ["rm"], "not_mach": []}]}}', /looks like "not_match"/],
    ['{"dangerous": {"deny": [{"argv": ["**", "rm"]}]}}', /may only be the last/],
    ['{"dangerous": {"deny": ["rm -rf"]}}', /dangerous\.deny\.0 must be an object like/],
    ['{"dangerous": {"deny": {}}}', /must be a list of rules/],
    ['{"deny": []}', /"deny" at the top, where it means nothing/],
    ['{"env_pass": []}', /"env_pass" at the top, where it means nothing/],
    ['{"sandbox": {"env_pas": ["A"]}}', /looks like "env_pass"/],
    ['{"sandbox": {"env_pass": ["A=B"]}}', /must be a variable name/],
    ['{"sandbox": {"backend": "none "}}', /must be one of bubblewrap, container, none/],
    ['{"sandbox": {\n"limits": {\n"pids": 0}}}', /:3: sandbox\.limits\.pids must be at least 1/],
    ['{"sandbox": {"limits": {"pids": -5}}}', /must be at least 1/],
    ['{"sandbox": {"limits": {"pids": 1.5}}}', /must be a whole number/],
    ['{"sandbox": {"limits": {"pids": "512"}}}', /must be a whole number/],
    ['{"sandbox": {"limits": {"pids": null}}}', /must be a whole number/],
    ['{"sandbox": {"limits": {"pids": 1e400}}}', /must be a whole number/],
    ['{"sandbox": {"limits": {"cpus": 0}}}', /must be more than 0/],
    ['{"sandbox": {"limits": {"memory_bytes": "4GB"}}}', /must be a positive number of bytes/],
    ['{"sandbox": {"limits": {"memory_bytes": "0GiB"}}}', /must be a positive number of bytes/],
    ['{"sandbox": {"limits": {"mem": 1}, "memory_bytes": 1}}', /it belongs at|means nothing/i],
    ['{"shell": {"timeout_ms": 0}}', /must be at least 1/],
    ['{"tools": {"toolsets": {"small": "shell"}}}', /must be a list of tool names/],
    ['{"mcp_servers": {"a b": {}}}', /must be 1 to 64 letters/],
    ['{"mcp_servers": {"a": []}}', /must be an object/],
    ['{"server": {"port": 70000}}', /must be at most 65535/],
    ['{"server": {"public_url": "ftp://x"}}', /http/],
    ['{"audit": {"retention_days": false}}', /must be a whole number/],
  ];
  test.each(cases)('%s', async (text, says) => {
    operator(text);
    expect(await problems()).toMatch(says);
    rmSync(join(home, 'config.json'));
    ofProject(text);
    expect(await problems()).toMatch(says);
  });

  test('values that contradict each other', async () => {
    operator('{"shell": {"timeout_ms": 5000000}}');
    expect(await problems()).toMatch(/more than shell\.max_timeout_ms/);
  });

  test('and every mistake is named at once, in the order of the file', async () => {
    operator('{\n"dangerous": {"non_interactive": 1},\n"sandbox": {"limits": {"pids": 0},\n"env_pas": []},\n"log": {"level": "loud"}}');
    expect(await problems()).toMatch(/config\.json:2: .*\n.*:3: .*\n.*:4: .*\n.*:5: /);
  });

  test('so does one that is no text, too large, a folder, a pipe, a dangling link, or open to others', async () => {
    const path = join(home, 'config.json');
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(await problems()).toMatch(/is not UTF-8/);
    operator(`{"x": "${'a'.repeat(1024 * 1024)}"}`);
    expect(await problems()).toMatch(/is larger than/);
    operator('{}');
    chmodSync(path, 0o666);
    expect(await problems()).toMatch(/can be written by other users/);
    rmSync(path);
    mkdirSync(path);
    expect(await problems()).toMatch(/is not a plain file/);
    rmSync(path, { recursive: true });
    execFileSync('mkfifo', [path]);
    expect(await problems()).toMatch(/is not a plain file/);
    rmSync(path);
    symlinkSync('/nowhere/config.json', path);
    expect(await problems()).toMatch(/can't be opened/);
  });

  test('a project file may not be a link: its target could be quoted', async () => {
    writeFileSync(join(base, 'target'), '{}');
    symlinkSync(join(base, 'target'), join(project, 'writ.json'));
    expect(await problems()).toMatch(/symbolic link/);
  });

  test('a link in a circle, or above the file, is told apart from a link that a project may not use', async () => {
    symlinkSync('config.json', join(home, 'config.json'));
    expect(await problems()).toBe("config.json:undefined: can't be opened: its symbolic links go round in a circle");
    rmSync(join(home, 'config.json'));
    symlinkSync('round', join(base, 'round'));
    const result = await load({ project_dir: join(base, 'round') });
    expect(result).toMatchObject({ ok: false, problems: [{ message: expect.stringMatching(/circle/) }] });
  });

  test('hostile keys are data, and are shown short and escaped', async () => {
    operator(`{"__proto__": {"polluted": 1}, "constructor": 1, "\\u001b[2J${'x'.repeat(500)}": 1, "\\u202e": 1}`);
    const { warnings } = await loaded();
    expect(warnings).toHaveLength(4);
    expect(warnings[0]?.message).toContain('"__proto__"');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    for (const { message } of warnings) {
      expect(message).not.toMatch(/[\u0000-\u001f\u202e]/);
      expect(message.length).toBeLessThan(200);
    }
  });
});

describe('unknown keys', () => {
  test('that guard nothing are warnings with line and suggestion', async () => {
    operator('{\n"colour": 1,\n"log": {"levle": "info"},\n"shell": {"timout_ms": 5}}');
    const { warnings, config } = await loaded();
    expect(warnings.map(({ line, message, fix }) => `${line} ${message} ${fix}`)).toEqual([
      expect.stringMatching(/^2 .*"colour".* Remove it\.$/),
      expect.stringMatching(/^3 .*"levle".*"level"/),
      expect.stringMatching(/^4 .*"timout_ms".*"timeout_ms"/),
    ]);
    expect(config).toEqual(defaultConfig(machine));
  });
});

describe('a project', () => {
  const effect = async (byOperator: object, byProject: object): Promise<{ config: Config; ignored: string[] }> => {
    operator(JSON.stringify(byOperator));
    ofProject(JSON.stringify(byProject));
    const { config, warnings } = await loaded();
    return { config, ignored: warnings.map(({ message }) => message.split(' is ignored')[0] ?? '') };
  };

  test('tightens', async () => {
    const { config, ignored } = await effect(
      {
        dangerous: { non_interactive: 'allow', deny: [{ argv: ['a'] }], classes: { install: 'allow' } },
        tools: { toolsets: { small: ['shell', 'read_file'] } },
        sandbox: { missing: 'prompt' },
      },
      {
        dangerous: {
          non_interactive: 'read_only',
          deny: [{ argv: ['b'] }],
          prompt: [{ argv: ['c'] }],
          classes: { install: 'prompt', network_egress: 'deny', destructive: 'deny' },
        },
        tools: { toolsets: { small: ['shell', 'browser'], default: ['shell'] } },
        sandbox: { missing: 'deny', limits: { pids: 10, cpus: 0.5 } },
        shell: { timeout_ms: 1000 },
      },
    );
    expect(ignored).toEqual([]);
    expect(config.dangerous).toEqual({
      non_interactive: 'read_only',
      deny: [{ argv: ['a'] }, { argv: ['b'] }],
      prompt: [{ argv: ['c'] }],
      allow: [],
      classes: { install: 'prompt', network_egress: 'deny', destructive: 'deny' },
    });
    expect(config.tools.toolsets).toEqual({ small: ['shell'], default: ['shell'] });
    expect(config.sandbox).toMatchObject({ missing: 'deny', limits: { pids: 10, cpus: 0.5 } });
    expect(config.shell.timeout_ms).toBe(1000);
  });

  test('never loosens: what would is ignored, and said', async () => {
    const byProject = {
      dangerous: {
        non_interactive: 'allow',
        allow: [{ argv: ['**'] }],
        classes: { destructive: 'allow', install: 'contained', safe: 'allow' },
      },
      tools: { toolsets: { other: ['shell'] } },
      sandbox: {
        backend: 'none',
        missing: 'prompt',
        env_pass: ['AWS_SECRET_ACCESS_KEY'],
        loopback: [5432],
        limits: { pids: 100_000, memory_bytes: '64GiB' },
      },
      shell: { timeout_ms: 3_000_000, yield_ms: 1, hosts: { x: { yield_ms: 1 } } },
      limits: { job_quota_bytes: 1, job_retention_days: 1 },
      approvals: { wait_seconds: 1 },
      server: { host: '0.0.0.0', port: 1, public_url: 'https://evil.example' },
      audit: { retention_days: 1, retention_bytes: 1 },
      log: { level: 'error' },
    };
    const { config, ignored } = await effect({}, byProject);
    expect(config).toEqual({ ...defaultConfig(machine), dangerous: { ...defaultConfig(machine).dangerous, classes: { safe: 'allow' } } });
    expect(ignored).toHaveLength(23);
    expect(ignored).toContain('dangerous.classes.destructive');
    expect(ignored).toContain('sandbox.limits.memory_bytes');
    expect(ignored).toContain('audit.retention_days');
  });

  test('brings servers as its own, and takes no name of the operator', async () => {
    const { config, ignored } = await effect(
      { mcp_servers: { a: { command: 'mine' } } },
      { mcpServers: { a: { command: 'theirs' }, b: { command: 'new' } } },
    );
    expect(config.mcp_servers).toEqual({
      a: { source: 'operator', entry: { command: 'mine' } },
      b: { source: 'project', entry: { command: 'new' } },
    });
    expect(ignored).toEqual(['mcp_servers.a']);
  });

  test('has no say without its folder', async () => {
    ofProject('{"log": ');
    expect((await loaded({ project_dir: undefined })).config).toEqual(defaultConfig(machine));
  });
});

describe('precedence', () => {
  test('flag, environment, project, operator, default', async () => {
    operator('{"shell": {"timeout_ms": 5000, "yield_ms": 500}, "log": {"level": "error"}, "limits": {"job_retention_days": 3}}');
    ofProject('{"shell": {"timeout_ms": 4000}}');
    const { config, provenance } = await loaded(
      { flags: [{ flag: '--log-level', path: 'log.level', value: 'debug' }] },
      { WRIT_SHELL_TIMEOUT_MS: '6000', WRIT_LOG_LEVEL: 'warn', WRIT_SHELL_YIELD_MS: '' },
    );
    expect(config.log.level).toBe('debug');
    expect(config.shell).toMatchObject({ timeout_ms: 6000, yield_ms: 500, max_timeout_ms: 3_600_000 });
    expect(provenance).toMatchObject({
      'log.level': { source: 'flag', place: '--log-level' },
      'shell.timeout_ms': { source: 'environment', place: 'WRIT_SHELL_TIMEOUT_MS' },
      'shell.yield_ms': { source: 'operator', place: `${home}/config.json:1` },
    });
    expect(provenance['limits.job_quota_bytes']).toBeUndefined();
  });

  test('a wrong variable or flag is a problem that names it', async () => {
    expect(await load({}, { WRIT_LOG_LEVEL: 'loud' })).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/^WRIT_LOG_LEVEL .*must be one of/) }],
    });
    expect(await load({}, { WRIT_SHELL_TIMEOUT_MS: '-1' })).toMatchObject({ ok: false });
    expect(await load({}, { WRIT_SHELL_TIMEOUT_MS: 'soon' })).toMatchObject({ ok: false });
    expect(await load({ flags: [{ flag: '--x', path: 'no.such', value: 1 }] })).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('--x') }],
    });
  });

  test("a misspelt variable is said; others of that name are nobody's business", async () => {
    const { warnings } = await loaded({}, { WRIT_LOGLEVEL: 'debug', WRIT_RUN: 'exec_1' });
    expect(warnings).toEqual([{ message: 'The variable WRIT_LOGLEVEL is unknown and ignored', fix: 'Did you mean WRIT_LOG_LEVEL?' }]);
  });
});

describe('the explanation', () => {
  test('names every value with its origin and shows no secret', async () => {
    operator(
      '{"mcp_servers": {"a": {"url": "https://u:fakepassword@h/", "env": {"API_KEY": "abcdef123456"}, "headers": {"Authorization": "Bearer abcdefgh12345678"}}}, "sandbox": {"limits": {"pids": 9}}}',
    );
    const explanation = explainConfig(await load(), home, createRedactor());
    const text = renderConfigCheck(explanation);
    expect(text).not.toMatch(/fakepassword|abcdef123456|abcdefgh12345678/);
    expect(text).toMatch(/sandbox\.limits\.pids +9 processes +operator \(.*config\.json:1\)/);
    expect(text).toMatch(/sandbox\.limits\.memory_bytes +4 GiB +default/);
    expect(JSON.stringify(explanation)).not.toMatch(/fakepassword|abcdef123456/);
  });

  test('shows problems with file, line and fix', async () => {
    operator('{\n"dangerus": {}}');
    const text = renderConfigCheck(explainConfig(await load(), home, createRedactor()));
    expect(text).toMatch(/error: .*config\.json:2: has the unknown key "dangerus".*\n {2}fix: Write "dangerous"/);
  });

  test('of a configuration without files says so', async () => {
    expect(renderConfigCheck(explainConfig(await load(), home, createRedactor()))).toMatch(/none: all values are defaults/);
  });
});
