import type { App } from './app.ts';

/** What the operator does is in the record like what an agent does. Closes the record, so that the process can end. */
export async function recordOperator(
  parts: Pick<App, 'audit' | 'clock'>,
  event: { readonly type: string; readonly agent?: string; readonly data: Readonly<Record<string, unknown>> },
): Promise<void> {
  const log = await parts.audit();
  try {
    await log.record(
      { ...event, at: parts.clock.now(), organization: 'org_local', data: { ...event.data, by: 'operator' } },
      { level: 'full', essential: true },
    );
  } finally {
    await log.close();
  }
}
