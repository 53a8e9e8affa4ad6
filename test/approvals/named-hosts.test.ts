import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { publishForCargo } from '../../src/execution/network/testing-registries.ts';
import { publishGlobal } from '../../src/execution/network/testing-site.ts';
import { has, hosts, openScene, preset, type Scene } from './scene.ts';

/** Hosts that no word of the command names, but a file does: the card has them, and with a yes the action works. */

let scene: Scene;

/** Where rustup keeps what its programs start is told by the home of the account, which a test has not. */
const cargo = (process.env['PATH'] ?? '').split(':').find((folder) => {
  try {
    const env = { HOME: userInfo().homedir, PATH: '/usr/bin:/bin' };
    execFileSync(join(folder, 'cargo'), ['--version'], { env, stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
});

beforeAll(async () => {
  scene = await openScene({
    names: ['npm.corp.example', 'crates.corp.example', 'index.crates.io', 'static.crates.io', 'k8s.corp.example'],
    path: cargo === undefined ? [] : [cargo],
  });
});
afterAll(() => scene.close());

const opensWith = (host: string, word: string) => [{ type: 'hosts', hosts: [host], presets: [word] }] as const;

test("npm with the project's own registry", async () => {
  const { bed, site } = scene;
  publishGlobal(site, bed.folder('global'), 'npm.corp.example');
  const project = bed.folder('work/app');
  writeFileSync(join(project, '.npmrc'), `registry=https://npm.corp.example/\ncafile=${site.ca}\naudit=false\n`);
  writeFileSync(join(project, 'package.json'), '{"name":"app","version":"1.0.0"}');
  await scene.fromQuestionToSuccess({
    command: 'npm install left-cli && node node_modules/left-cli/cli.js',
    opens: opensWith('npm.corp.example', 'npm'),
    says: 'left is here',
  });
});

test.skipIf(cargo === undefined)(
  'cargo, with the registry that it knows and with one of the project',
  async () => {
    const { bed, site } = scene;
    publishForCargo(site, bed.workspace);
    // Without a network it is tried once.
    const tls = `CARGO_NET_RETRY=0 CARGO_HTTP_CAINFO=${site.ca}`;
    await scene.fromQuestionToSuccess({ command: `${tls} cargo fetch && echo fetched`, opens: preset('crates'), says: 'fetched' });
    publishForCargo(site, bed.workspace, 'crates.corp.example', 'crates.corp.example');
    mkdirSync(join(bed.workspace, '.cargo'), { recursive: true });
    const source = '[source.crates-io]\nreplace-with = "corp"\n[source.corp]\nregistry = "sparse+https://crates.corp.example/"\n';
    writeFileSync(join(bed.workspace, '.cargo/config.toml'), source);
    await scene.fromQuestionToSuccess({
      command: `rm -f Cargo.lock; ${tls} cargo fetch && cargo run --offline -q`,
      opens: opensWith('crates.corp.example', 'crates'),
      says: 'left is here',
    });
  },
  120_000,
);

test('the cluster of the person', async () => {
  const { bed, site } = scene;
  site.publish('k8s.corp.example/api/pods', 'a-pod Running\n');
  const trust = readFileSync(site.ca).toString('base64');
  const cluster = `- cluster:\n    certificate-authority-data: ${trust}\n    server: https://k8s.corp.example\n  name: corp\n`;
  const context = '- context:\n    cluster: corp\n    user: me\n  name: work\n';
  const user = '- name: me\n  user:\n    token: a-token\n';
  const config = `apiVersion: v1\nkind: Config\nclusters:\n${cluster}contexts:\n${context}current-context: work\nusers:\n${user}`;
  bed.file('people/dev/.kube/config', config, 0o600);
  // Where the real client isn't installed, something that asks whom its configuration names.
  const instead = `#!/bin/sh\nserver=$(sed -n 's/^ *server: //p' "$HOME/.kube/config") && exec curl -sS --cacert ${site.ca} "$server$3"\n`;
  if (!has('kubectl') && !existsSync('/usr/local/bin/kubectl')) bed.file('bin/kubectl', instead, 0o755);
  await scene.fromQuestionToSuccess({
    command: 'kubectl get --raw /api/pods',
    opens: [...hosts('k8s.corp.example'), { type: 'path', path: join(bed.user_home, '.kube/config'), access: 'read' }],
    says: 'a-pod Running',
  });
});
