import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assessCommand } from '../policy/index.ts';
import { serversOf } from './clusters.ts';
import { withNamedHosts } from './named-hosts.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-hosts-'));
  mkdirSync(join(base, 'app/packages/one'), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}

function opened(command: string, at = 'app'): readonly unknown[] {
  const workspaces = [join(base, 'app')];
  const facts = { realpath: (path: string) => path, which: () => undefined };
  const assessment = assessCommand(command, { cwd: join(base, at), home: join(base, 'home'), workspaces, facts });
  return withNamedHosts(assessment, join(base, at), workspaces).findings.flatMap(({ opens }) =>
    opens?.type === 'hosts' ? [[...opens.hosts, ...opens.presets.map((preset) => `+${preset}`)].join(' ')] : [],
  );
}

describe('registries that a project names', () => {
  it.each([
    [
      'npm ci',
      '.npmrc',
      'registry=https://npm.corp.example:4873/\n@team:registry = "https://team.example/npm/"\n;registry=https://no.example',
      'npm.corp.example:4873 team.example +npm',
    ],
    ['yarn', '.yarnrc.yml', 'npmRegistryServer: "https://yarn.corp.example"\nnpmScopes:\n', 'yarn.corp.example +npm'],
    [
      'bun install',
      'bunfig.toml',
      '[other]\nregistry = "https://no.example"\n[install.scopes]\n"@team" = "https://bun.corp.example/"\n',
      'bun.corp.example +npm',
    ],
    [
      'pip install -r requirements.txt',
      'requirements.txt',
      '--extra-index-url https://user:secret@pip.corp.example/simple\nleft\n',
      'pip.corp.example +pypi',
    ],
    [
      'uv sync',
      'pyproject.toml',
      '[project]\nurl = "https://no.example"\n[[tool.uv.index]]\nname = "x"\nurl = "https://uv.corp.example/simple"\n',
      'uv.corp.example +pypi',
    ],
    [
      'poetry install',
      'pyproject.toml',
      '[[tool.poetry.source]]\nurl = "https://poetry.corp.example/simple"\n',
      'poetry.corp.example +pypi',
    ],
    ['pipenv sync', 'Pipfile', '[[source]]\nurl = "https://pipenv.corp.example/simple"\n', 'pipenv.corp.example +pypi'],
    [
      'cargo fetch',
      '.cargo/config.toml',
      '[registries.team]\nindex = "sparse+https://crates.corp.example/index/"\n[net]\ngit = "https://no.example"\n',
      'crates.corp.example +crates',
    ],
    ['cargo fetch', 'Cargo.toml', '[dependencies]\nleft = { git = "https://git.corp.example/left" }\n', 'git.corp.example +crates'],
  ])('%s with %s', (command, name, text, hosts) => {
    expect(opened(command)).toEqual([hosts.slice(hosts.lastIndexOf('+'))]);
    file(`app/${name}`, text);
    expect(opened(command)).toEqual([hosts]);
    expect(opened('curl https://example.org/')).toEqual(['example.org']);
  });

  it('above the working folder, as far as the Workspace goes', () => {
    file('app/.npmrc', 'registry=https://npm.corp.example/\n');
    file('.npmrc', 'registry=https://outside.example/\n');
    expect(opened('npm ci', 'app/packages/one')).toEqual(['npm.corp.example +npm']);
  });

  it('more than a card can show are not opened', () => {
    file('app/.npmrc', Array.from({ length: 9 }, (_, index) => `@s${index}:registry=https://r${index}.example/\n`).join(''));
    expect(opened('npm ci')).toEqual(['+npm']);
    file('app/.npmrc', `registry=https://npm.corp.example/\n${' '.repeat(300_000)}`);
    expect(opened('npm ci')).toEqual(['+npm']);
  });
});

describe('the cluster that a kubeconfig names', () => {
  const CONFIG = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: QUJD
    server: https://10.0.0.7:6443
  name: lab
- cluster:
    server: "https://k8s.corp.example"
  name: prod
contexts:
- context:
    cluster: prod
    user: me
  name: work
- context:
    cluster: lab
    user: me
  name: home
current-context: home
kind: Config
users:
- name: me
  user:
    token: secret
`;

  it('is the one of the context in use, or of the one that the command names', () => {
    file('home/.kube/config', CONFIG);
    expect(opened('kubectl get pods')).toEqual(['10.0.0.7:6443']);
    expect(opened('kubectl --context work get pods')).toEqual(['k8s.corp.example']);
    expect(opened('kubectl --cluster=prod get pods')).toEqual(['k8s.corp.example']);
    expect(opened('helm list')).toEqual(['10.0.0.7:6443']);
  });

  it('is not known without the file; with a context that it does not have, all are shown', () => {
    expect(opened('kubectl get pods')).toEqual(['+kubernetes']);
    expect(serversOf(CONFIG, 'none')).toEqual(['10.0.0.7:6443', 'k8s.corp.example']);
    expect(serversOf('{"clusters": []}')).toEqual([]);
  });
});
