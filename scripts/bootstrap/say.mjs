/**
 * What the scripts tell a person. Everything goes to stderr: `./writ mcp` may have to build first, and its stdout carries
 * nothing but the protocol.
 */
const tty = process.stderr.isTTY === true;
const seconds = (since) => Math.round((Date.now() - since) / 1000);

export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** A problem the reader can mend: its text is shown without a stack. */
export class Stop extends Error {}

/** Says what is being done in one line and keeps showing that it still goes on: elapsed seconds on a terminal, a line every 10 s elsewhere. */
export async function step(title, work) {
  const since = Date.now();
  if (tty) process.stderr.write(`${title} ...`);
  else say(`${title} ...`);
  const timer = tty
    ? setInterval(() => process.stderr.write(`\r${title} ... ${seconds(since)} s`), 1000)
    : setInterval(() => say(`  still at it, ${seconds(since)} s`), 10_000);
  try {
    const result = await work();
    say(tty ? `\r${title}: done in ${seconds(since)} s   ` : `  done in ${seconds(since)} s`);
    return result;
  } catch (error) {
    if (tty) say('');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** What the machine refuses, not what a script did wrong. */
const REFUSED = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

/** Runs a script's main function; a Stop, or a refusal of the machine, ends it with its text alone. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    say(error instanceof Stop || REFUSED.includes(error.code) ? `\n${error.message}` : (error.stack ?? String(error)));
    process.exitCode = 1;
  }
}
