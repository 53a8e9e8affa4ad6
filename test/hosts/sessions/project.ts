import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A small project as people have them: JavaScript with a server, a report in Python, a Makefile, two commits and a remote. */
export function makeProject(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=Dev', '-c', 'user.email=dev@example.org', ...args], { stdio: 'ignore' });
  };
  git('init', '--initial-branch=main');
  git('add', '.');
  git('commit', '-m', 'Tally: first version');
  writeFileSync(join(folder, 'docs/usage.md'), '# Usage\n\n    node src/cli.js FILE\n\nTODO: say what the columns mean.\n');
  git('commit', '-am', 'Docs: usage');
  git('remote', 'add', 'origin', 'https://github.com/example/tally.git');
}

const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      name: 'tally',
      version: '1.4.0',
      type: 'module',
      private: true,
      scripts: {
        test: 'node --test',
        build: 'node scripts/build.mjs',
        lint: 'node scripts/lint.mjs',
        typecheck: 'node --check src/sum.js',
        dev: 'node src/server.js',
      },
    },
    null,
    2,
  )}\n`,
  '.gitignore': 'node_modules/\ndist/\n__pycache__/\n*.log\n',
  'README.md': '# Tally\n\nAdds up columns of CSV files. See docs/usage.md.\n',
  'docs/usage.md': '# Usage\n\n    node src/cli.js FILE\n',
  'CHANGELOG.md': '# Changes\n\n## 1.4.0\n\n- A server.\n',
  'src/sum.js': 'export function sum(numbers) {\n  let total = 0;\n  for (const number of numbers) total += number;\n  return total;\n}\n',
  'src/csv.js':
    'export function parseCsv(text) {\n  // TODO: quoted fields\n  return text.trim().split("\\n").map((line) => line.split(","));\n}\n\nexport function column(rows, index) {\n  return rows.map((row) => Number(row[index]));\n}\n',
  'src/cli.js':
    'import { readFileSync } from "node:fs";\nimport { column, parseCsv } from "./csv.js";\nimport { sum } from "./sum.js";\n\nconst rows = parseCsv(readFileSync(process.argv[2], "utf8"));\nconsole.log(sum(column(rows, 1)));\n',
  'src/server.js':
    'import { createServer } from "node:http";\nimport { sum } from "./sum.js";\n\nconst port = Number(process.env.PORT ?? 3000);\ncreateServer((request, response) => {\n  const numbers = new URL(request.url, "http://localhost").searchParams.getAll("n").map(Number);\n  response.end(sum(numbers) + "\\n");\n}).listen(port, "127.0.0.1", () => console.log("listening on", port));\n',
  'test/sum.test.js':
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "../src/sum.js";\n\ntest("sum", () => {\n  assert.equal(sum([1, 2, 3]), 6);\n});\n',
  'test/csv.test.js':
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { column, parseCsv } from "../src/csv.js";\n\ntest("a column", () => {\n  assert.deepEqual(column(parseCsv("a,1\\nb,2\\n"), 1), [1, 2]);\n});\n',
  'scripts/build.mjs':
    'import { cpSync, rmSync } from "node:fs";\n\nrmSync("dist", { recursive: true, force: true });\ncpSync("src", "dist", { recursive: true });\nconsole.log("built dist/");\n',
  'scripts/lint.mjs':
    'import { readFileSync, readdirSync } from "node:fs";\n\nlet bad = 0;\nfor (const name of readdirSync("src")) {\n  if (/\\bvar\\b/.test(readFileSync("src/" + name, "utf8"))) { console.error("src/" + name + ": var"); bad += 1; }\n}\nif (!process.argv.includes("--fix")) process.exitCode = bad;\n',
  'report/report.py':
    'import csv\nimport sys\n\n\ndef totals(rows):\n    result = {}\n    for name, amount in rows:\n        result[name] = result.get(name, 0) + int(amount)\n    return result\n\n\nif __name__ == "__main__":\n    with open(sys.argv[1], newline="") as file:\n        print(totals(csv.reader(file)))\n',
  'report/test_report.py':
    'import unittest\n\nfrom report import totals\n\n\nclass Totals(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(totals([("a", "1"), ("a", "2")]), {"a": 3})\n\n\nif __name__ == "__main__":\n    unittest.main()\n',
  'data/sample.csv': 'apples,3\npears,4\napples,5\n',
  Makefile: 'check:\n\tnpm run lint\n\tnpm test\n\nclean:\n\trm -rf dist\n\n.PHONY: check clean\n',
  '.github/workflows/ci.yml': 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n',
};
