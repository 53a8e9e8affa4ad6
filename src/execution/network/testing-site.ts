import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { dirname, join } from 'node:path';

/** For tests: a folder of files behind the right names, over HTTP and, with a certificate of its own, HTTPS. */
export interface Site {
  /** The public half of the certificate. */
  readonly ca: string;
  /** `host:port` as asked for, to the loopback port that answers; for a `World`. */
  readonly places: readonly (readonly [string, number])[];
  /** Puts a file where `https://HOST/PATH` finds it. */
  publish(place: string, content: string | Buffer): void;
  close(): void;
}

export interface SiteOptions {
  /** The folder of each host lies below it. */
  readonly folder: string;
  /** Where the public half of the certificate is put. */
  readonly ca: string;
  readonly names: readonly string[];
  /** True when it has taken the request. */
  handle?(request: IncomingMessage, response: ServerResponse): boolean;
}

export async function makeSite({ folder, ca, names, handle }: SiteOptions): Promise<Site> {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (!handle?.(request, response)) serveFile(folder, request, response);
  };
  const http = createHttpServer(serve);
  const https = createHttpsServer(makeCertificate(folder, ca, names), serve);
  for (const server of [http, https]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    ca,
    places: names.flatMap((name) => [[`${name}:80`, portOf(http)] as const, [`${name}:443`, portOf(https)] as const]),
    publish(place, content) {
      const path = join(folder, place);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    },
    close() {
      for (const server of [http, https]) server.close();
    },
  };
}

const portOf = (server: Server): number => (server.address() as { port: number }).port;

function serveFile(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://x').pathname.replace(/\/$/, '/index.html');
  try {
    if (path.endsWith('.html')) response.setHeader('content-type', 'text/html');
    response.end(readFileSync(join(folder, String(request.headers.host), path)));
  } catch {
    response.writeHead(404);
    response.end();
  }
}

function makeCertificate(folder: string, cert: string, names: readonly string[]): { readonly key: Buffer; readonly cert: Buffer } {
  mkdirSync(folder, { recursive: true });
  const key = join(folder, 'key.pem');
  const san = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=test', '-addext', san], { stdio: 'pipe' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** A package `left` in the registry, and a project in `folder` whose lock file asks for it. */
export function publishForNpm(site: Site, folder: string, scripts: Readonly<Record<string, string>> = {}): void {
  const pack = join(folder, 'pack', 'package');
  mkdirSync(pack, { recursive: true });
  writeFileSync(join(pack, 'package.json'), '{"name":"left","version":"1.0.0"}');
  writeFileSync(join(pack, 'index.js'), 'module.exports = "left is here";');
  execFileSync('tar', ['czf', '../left.tgz', '-C', '..', 'package'], { cwd: pack });
  const tarball = readFileSync(join(pack, '../left.tgz'));
  site.publish('registry.npmjs.org/left/-/left-1.0.0.tgz', tarball);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const left = { version: '1.0.0', resolved: 'https://registry.npmjs.org/left/-/left-1.0.0.tgz', integrity };
  const project = { name: 'app', version: '1.0.0', dependencies: { left: '1.0.0' } };
  const locked = { ...project, lockfileVersion: 3, requires: true, packages: { '': project, 'node_modules/left': left } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project, scripts }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(locked));
}

/** A package `left` in the index; it is made in `folder`. */
export function publishForPip(site: Site, folder: string): void {
  const about = join(folder, 'left-1.0.dist-info');
  mkdirSync(about, { recursive: true });
  writeFileSync(join(folder, 'left.py'), 'word = "left is here"\n');
  writeFileSync(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: left\nVersion: 1.0\n');
  writeFileSync(join(about, 'WHEEL'), 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  const files = ['left.py', ...['METADATA', 'WHEEL', 'RECORD'].map((name) => `left-1.0.dist-info/${name}`)];
  writeFileSync(join(about, 'RECORD'), files.map((name) => `${name},,\n`).join(''));
  const name = 'left-1.0-py3-none-any.whl';
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-c', name, 'left.py', 'left-1.0.dist-info'], { cwd: folder });
  site.publish(`files.pythonhosted.org/p/${name}`, readFileSync(join(folder, name)));
  site.publish('pypi.org/simple/left/index.html', `<a href="https://files.pythonhosted.org/p/${name}">${name}</a>`);
}

/** A package `left-cli` with a program of that name; it is made in `folder`. */
export function publishGlobal(site: Site, folder: string, registry = 'registry.npmjs.org'): void {
  const pack = join(folder, 'package');
  mkdirSync(pack, { recursive: true });
  const about = { name: 'left-cli', version: '1.0.0', bin: { 'left-cli': 'cli.js' } };
  writeFileSync(join(pack, 'package.json'), JSON.stringify(about));
  writeFileSync(join(pack, 'cli.js'), '#!/usr/bin/env node\nconsole.log("left is here");\n', { mode: 0o755 });
  execFileSync('tar', ['czf', 'left-cli.tgz', 'package'], { cwd: folder });
  const tarball = readFileSync(join(folder, 'left-cli.tgz'));
  const path = `${registry}/tarballs/left-cli-1.0.0.tgz`;
  site.publish(path, tarball);
  const dist = { tarball: `https://${path}`, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` };
  const versions = { '1.0.0': { ...about, dist } };
  site.publish(`${registry}/left-cli`, JSON.stringify({ name: 'left-cli', 'dist-tags': { latest: '1.0.0' }, versions }));
}
