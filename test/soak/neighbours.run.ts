import { crowdPlace, processesOf } from '../gateway/crowd.ts';
import { listed } from '../gateway/place.ts';
import { startMcp } from '../helpers/writ-process.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { readOptions } from './kit/options.ts';

/**
 * A hundred servers that misbehave behind one `writ mcp`, and a good one: how long its calls take while the others start, fail and are
 * started again, and when each has been given up for a while, against the same server alone.
 */

const { count } = readOptions(100);
const CALLS = 200;
/** All share the processors of this machine while the others are started. */
const SLOWER_AFTERWARDS = 2;
/** Nobody waits for as long as a bad one is given. */
const LONGEST_MS = 1_000;

const findings = createFindings();

async function measure(others: number): Promise<{ readonly during: readonly number[]; readonly after: readonly number[] }> {
  const place = crowdPlace(others);
  const mcp = await startMcp(place);
  const calls = async (): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const since = performance.now();
      const { text } = await mcp.call('good__act', { n });
      times.push(performance.now() - since);
      if (!text.includes(`acted 漢字😀 ${n}`)) findings.add('a wrong answer', text);
    }
    return times.sort((a, b) => a - b);
  };
  try {
    await listed(mcp, 'good__act');
    const during = await calls();
    const skipped = (): number => new Set(mcp.stderr().match(/writ: skipped "bad\d+"/g)).size;
    while (skipped() < others) await mcp.call('good__act', { n: 0 });
    return { during, after: await calls() };
  } finally {
    const code = await mcp.end();
    if (code !== 0) findings.add('a bad end', String(code));
    for (const line of processesOf(place.workspace)) findings.add('a process is left', line);
    place.remove();
  }
}

const at = (times: readonly number[], share: number): number => times[Math.floor(times.length * share)] ?? 0;
const shown = (times: readonly number[]): string =>
  `p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms, longest ${(times.at(-1) ?? 0).toFixed(1)} ms`;

const alone = await measure(0);
const crowd = await measure(count);
console.log(`alone: ${shown(alone.after)}`);
console.log(`while ${count} others start and fail: ${shown(crowd.during)}`);
console.log(`when each of them has been skipped: ${shown(crowd.after)}`);
if ((crowd.during.at(-1) ?? 0) > LONGEST_MS) findings.add('a call waited for others', shown(crowd.during));
if (at(crowd.after, 0.5) > SLOWER_AFTERWARDS * at(alone.after, 0.5)) findings.add('its latency is not kept', shown(crowd.after));
conclude(findings);
