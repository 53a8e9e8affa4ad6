import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assessment } from './assessment.ts';
import { audit } from './audit.ts';
import { capture } from './capture.ts';
import { gateway } from './gateway.ts';
import { hotPath } from './hot-path.ts';
import { http } from './http.ts';
import { memory } from './memory.ts';
import { figureCells, load, page, ratioCells } from './page.ts';
import { makePlace, type Place } from './place.ts';
import { rivals } from './rivals.ts';
import type { Rows } from './row.ts';
import { shell } from './shell.ts';
import { shellOverMcp } from './shell-over-mcp.ts';
import { startup } from './startup.ts';
import { up } from './up.ts';

/**
 * `npm run bench`: everything one after another into bench/results.md; `npm run bench -- shell memory` only shows those. Ratios of one
 * run, never a test.
 */
const BENCHMARKS: Readonly<Record<string, (place: Place) => Promise<Rows>>> = {
  startup,
  shell,
  'shell-over-mcp': shellOverMcp,
  capture,
  'hot-path': hotPath,
  http,
  gateway,
  rivals,
  up,
  assessment,
  audit,
  memory,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0) throw new Error(`No benchmark is named ${unknown.join(', ')}. There are: ${Object.keys(BENCHMARKS).join(', ')}`);

const before = load();
const place = makePlace();
const all: Rows[] = [];
try {
  for (const [name, measure] of Object.entries(BENCHMARKS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const rows = await measure(place);
    all.push(rows);
    for (const cells of [...(rows.ratios ?? []).map(ratioCells), ...(rows.figures ?? []).map(figureCells)]) console.log(cells.join(' | '));
  }
} finally {
  place.remove();
}
if (names.length === 0) writeFileSync(join(import.meta.dirname, 'results.md'), page(all, [before, load()]));
