import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = '@writ-fixture/server';

/** A registry of npm on this machine with one package, which is test/fixtures/gateway-server.mjs and has an install script. */
export interface Registry {
  readonly url: string;
  /** How often it was asked for anything. */
  asked(): number;
  publish(version: string): void;
  /** Archives are not given from now on: whoever wants one waits. Resolves when somebody does. */
  hang(): Promise<void>;
  unhang(): void;
  close(): Promise<void>;
}

export async function openRegistry(): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-registry-'));
  const versions = new Map<string, Buffer>();
  const sockets = new Set<Socket>();
  let asked = 0;
  let hanging: PromiseWithResolvers<void> | undefined;
  const server = createServer((request, response) => {
    asked++;
    const version = /server-([\d.]+)\.tgz$/.exec(request.url ?? '')?.[1];
    if (version !== undefined) {
      if (hanging === undefined) response.end(versions.get(version));
      else hanging.resolve();
      return;
    }
    const entries = [...versions].map(([each, tarball]) => {
      const dist = { tarball: `${url}server-${each}.tgz`, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` };
      return [each, { ...manifest(each), dist }];
    });
    const packument = { name: PACKAGE, 'dist-tags': { latest: [...versions.keys()].at(-1) }, versions: Object.fromEntries(entries) };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(packument));
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    asked: () => asked,
    publish(version) {
      const root = join(folder, 'package');
      mkdirSync(root, { recursive: true });
      copyFileSync(fileURLToPath(new URL('../fixtures/gateway-server.mjs', import.meta.url)), join(root, 'server.mjs'));
      writeFileSync(join(root, 'package.json'), JSON.stringify(manifest(version)));
      execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
      versions.set(version, readFileSync(join(folder, 'package.tgz')));
    },
    hang() {
      hanging = Promise.withResolvers();
      return hanging.promise;
    },
    unhang() {
      hanging = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function manifest(version: string): object {
  return { name: PACKAGE, version, bin: { fixture: 'server.mjs' }, scripts: { postinstall: 'echo ran > ran.txt' }, hasInstallScript: true };
}
