import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from './testing-site.ts';

/** For tests: registries as their tools expect them, with one package `left` each, and a project that wants it. */

const sha256 = (bytes: Buffer | string, form: 'hex' | 'base64' = 'hex'): string => createHash('sha256').update(bytes).digest(form);

function files(folder: string, all: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A sparse index and a crate, in the places that crates.io has them; a program in `folder` prints what the crate says. */
export function publishForCargo(site: Site, folder: string, index = 'index.crates.io', downloads = 'static.crates.io'): void {
  const manifest = (name: string, more: string): string => `[package]\nname = "${name}"\nversion = "1.0.0"\nedition = "2021"\n${more}`;
  files(folder, {
    'pack/left-1.0.0/Cargo.toml': manifest('left', ''),
    'pack/left-1.0.0/src/lib.rs': 'pub const WORD: &str = "left is here";\n',
    'Cargo.toml': manifest('app', '[dependencies]\nleft = "1"\n'),
    'src/main.rs': 'fn main() { println!("{}", left::WORD); }\n',
  });
  execFileSync('tar', ['czf', 'left.crate', 'left-1.0.0'], { cwd: join(folder, 'pack') });
  const crate = readFileSync(join(folder, 'pack/left.crate'));
  site.publish(`${downloads}/crates/left/1.0.0/download`, crate);
  site.publish(`${index}/config.json`, JSON.stringify({ dl: `https://${downloads}/crates`, api: `https://${index}` }));
  const entry = { name: 'left', vers: '1.0.0', deps: [], cksum: sha256(crate), features: {}, yanked: false };
  site.publish(`${index}/le/ft/left`, `${JSON.stringify(entry)}\n`);
}

const MODULE = 'example.com/left';

/** A module behind the proxy of modules, and a program in `folder` that uses it; its sums are known, so that no database is asked. */
export function publishForGo(site: Site, folder: string): void {
  const mod = `module ${MODULE}\n\ngo 1.19\n`;
  const code = 'package left\n\nconst Word = "left is here"\n';
  const packed = `${MODULE}@v1.0.0`;
  files(folder, {
    [`pack/${packed}/go.mod`]: mod,
    [`pack/${packed}/left.go`]: code,
    'go.mod': `module app\n\ngo 1.19\n\nrequire ${MODULE} v1.0.0\n`,
    'go.sum': `${MODULE} v1.0.0 ${dirHash({ [`${packed}/go.mod`]: mod, [`${packed}/left.go`]: code })}\n${MODULE} v1.0.0/go.mod ${dirHash({ 'go.mod': mod })}\n`,
    'main.go': `package main\n\nimport (\n\t"fmt"\n\t"${MODULE}"\n)\n\nfunc main() { fmt.Println(left.Word) }\n`,
  });
  // Without entries for folders: those are not allowed in a module.
  const zip = 'import sys, zipfile\nwith zipfile.ZipFile("left.zip", "w") as zip:\n  for name in sys.argv[1:]: zip.write(name)';
  const named = ['go.mod', 'left.go'].map((name) => `${packed}/${name}`);
  execFileSync('/usr/bin/python3', ['-c', zip, ...named], { cwd: join(folder, 'pack') });
  const at = `proxy.golang.org/${MODULE}/@v`;
  site.publish(`${at}/list`, 'v1.0.0\n');
  site.publish(`${at}/v1.0.0.info`, JSON.stringify({ Version: 'v1.0.0', Time: '2026-01-01T00:00:00Z' }));
  site.publish(`${at}/v1.0.0.mod`, mod);
  site.publish(`${at}/v1.0.0.zip`, readFileSync(join(folder, 'pack/left.zip')));
}

/** `h1:` of go.sum: a hash over the hashes of all files, by name. */
function dirHash(all: Readonly<Record<string, string>>): string {
  const lines = Object.keys(all)
    .sort()
    .map((name) => `${sha256(all[name] ?? '')}  ${name}\n`);
  return `h1:${sha256(lines.join(''), 'base64')}`;
}

/** A repository without a signature at `http://deb.debian.org/repo`; the package is made in `folder`. */
export function publishForApt(site: Site, folder: string): void {
  files(folder, {
    'left/DEBIAN/control': 'Package: left\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@example.com>\nDescription: left\n',
    'left/usr/share/left/word': 'left is here\n',
  });
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', 'left', 'left_1.0_all.deb'], { cwd: folder, stdio: 'pipe' });
  const deb = readFileSync(join(folder, 'left_1.0_all.deb'));
  const about = `Filename: ./left_1.0_all.deb\nSize: ${deb.length}\nSHA256: ${sha256(deb)}\n`;
  site.publish('deb.debian.org/repo/left_1.0_all.deb', deb);
  site.publish('deb.debian.org/repo/Packages', `Package: left\nVersion: 1.0\nArchitecture: all\n${about}\n`);
}
