import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pythonInstaller } from './python.ts';
import type { Wanted } from './types.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-python-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const file = (path: string, text: string): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const wanted = (spec: string, bin: string): Wanted => ({ ecosystem: 'python', specs: [spec], bin });

test('nothing is built, with uv or with pip', () => {
  const argv = (programs: readonly string[]) =>
    pythonInstaller
      .prepare(wanted('x==1', 'x'), base, { user_home: base, host_env: {}, has: (name) => programs.includes(name) })
      .argv.join(' ');
  expect(argv(['uv', 'python3'])).toMatch(/^uv pip install .*--only-binary :all: x==1$/);
  expect(argv(['python3'])).toMatch(/^python3 -m pip install .*--only-binary :all: x==1$/);
  expect(() => argv([])).toThrow('Neither uv nor python3');
});

test('its program is a console script of the package that was named, or of one that came with it', () => {
  file('site/My_Pkg-1.2.dist-info/METADATA', 'Metadata-Version: 2.1\nName: My_Pkg\nVersion: 1.2\n');
  file('site/My_Pkg-1.2.dist-info/RECORD', 'my_pkg/cli.py,sha256=x,1\n');
  file('site/My_Pkg-1.2.dist-info/entry_points.txt', '[console_scripts]\nmy-pkg = my_pkg.cli:main [extra]\n\n[other]\nno = no:no\n');
  file('site/my_pkg/cli.py', '');
  file('site/dep-2.dist-info/METADATA', 'Name: dep\nVersion: 2\n');
  file('site/dep-2.dist-info/entry_points.txt', '[console_scripts]\ndep-run=dep:app.run\n');
  const found = pythonInstaller.read(wanted('my.pkg[extra]==1.2', 'my-pkg'), base);
  expect(found).toMatchObject({ package: 'my-pkg', version: '1.2', packages: 2, program: { name: 'my-pkg', entry: 'my_pkg.cli:main' } });
  expect(found.watched).toEqual(['installed.json', 'site/my_pkg/cli.py', 'site/My_Pkg-1.2.dist-info/entry_points.txt']);
  expect(pythonInstaller.read(wanted('my-pkg', 'dep-run'), base)).toMatchObject({ program: { entry: 'dep:app.run' } });
  expect(() => pythonInstaller.read(wanted('my-pkg', 'no'), base)).toThrow('it has: my-pkg');
});
