import type { Call } from './program.ts';

/** What migration tools of all languages call throwing a database away. Where it lies can't be known: a person decides. */
const RESETS =
  /(?:^|\s)(?:migrate reset|migrate:(?:fresh|reset|refresh)|migrate:rollback --all|db:(?:drop|reset|wipe|purge|migrate:reset|schema:load)(?::\w+)?|schema:drop|ecto\.(?:drop|reset)|database (?:drop|reset)|db (?:drop|reset|wipe)|drop-all|downgrade base|reset_db|(?:\S*manage\.py )flush|\S*--force-reset|\S*--accept-data-loss)(?=\s|$)/;

export function resetsDatabase(call: Call): void {
  if (RESETS.test(call.args.join(' '))) call.report('destructive', 'throws a database away', { verdict: 'prompt' });
}
