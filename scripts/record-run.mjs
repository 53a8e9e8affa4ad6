import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bootstrap/checkout.mjs';
import { makeReady } from './bootstrap/ready.mjs';
import { main, Stop } from './bootstrap/say.mjs';

/**
 * `node scripts/record-run.mjs FOLDER [NAME...]`: runs the programs of a folder (each `*.run.ts`, or those named) one after another, shows
 * what they print and keeps it in FOLDER/last-run.md, which is committed; with names, what the others said last stays there. Exit code 1
 * when one of them failed.
 */
main(async () => {
  const [folder, ...names] = process.argv.slice(2);
  if (folder === undefined) throw new Stop('Usage: node scripts/record-run.mjs FOLDER [NAME...]');
  const { node, env } = await makeReady('test');
  const programs = readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.run.ts') && (names.length === 0 || names.includes(name.slice(0, -'.run.ts'.length))))
    .sort();
  if (programs.length === 0)
    throw new Stop(`Nothing to run in ${folder}/: no *.run.ts${names.length > 0 ? ` named ${names.join(', ')}` : ''}.`);
  const parts = [];
  for (const program of programs) {
    console.log(`\n=== ${folder}/${program}`);
    parts.push({ program, ...(await record([node, join(ROOT, folder, program)], env)) });
  }
  const path = join(ROOT, folder, 'last-run.md');
  writeFileSync(path, page(folder, parts, names.length === 0 ? '' : existsSync(path) ? readFileSync(path, 'utf8') : ''));
  return parts.every(({ code }) => code === 0) ? 0 : 1;
});

/** More than this is a defect of the program that printed it; the rest is counted, not kept. */
const KEPT_CHARACTERS = 200_000;

function record(argv, env) {
  return new Promise((resolve) => {
    const since = Date.now();
    const child = spawn(argv[0], argv.slice(1), { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let omitted = 0;
    const keep = (stream) => (chunk) => {
      stream.write(chunk);
      const room = Math.max(0, KEPT_CHARACTERS - output.length);
      output += chunk.slice(0, room);
      omitted += Math.max(0, chunk.length - room);
    };
    child.stdout.setEncoding('utf8').on('data', keep(process.stdout));
    child.stderr.setEncoding('utf8').on('data', keep(process.stderr));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? signal, output, omitted, seconds: Math.round((Date.now() - since) / 1000) }),
    );
  });
}

function page(folder, parts, earlier) {
  const head = `# Last run of ${folder}\n\n${process.platform} ${process.arch}, ${availableParallelism()} cores.\n`;
  const sections = new Map(earlier.split(SECTION).flatMap((text) => (SECTION_NAME.exec(text) ? [[SECTION_NAME.exec(text)[1], text]] : [])));
  for (const part of parts) sections.set(part.program, section(part));
  return [head, ...[...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)].join('');
}

const SECTION = /(?=^\n## \S+\.run\.ts: )/m;
const SECTION_NAME = /^\n## (\S+\.run\.ts): /;

function section({ program, code, output, omitted, seconds }) {
  const text = output.replaceAll(ROOT, '.').replaceAll('```', "'''").trimEnd();
  const cut = omitted > 0 ? `\n(${omitted} more characters were printed and not kept)` : '';
  return `\n## ${program}: ${code === 0 ? 'passed' : `FAILED (${code})`} in ${seconds} s on ${new Date().toISOString().slice(0, 10)}\n\n\`\`\`text\n${text}${cut}\n\`\`\`\n`;
}
