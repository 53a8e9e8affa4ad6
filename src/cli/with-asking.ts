import type { App, AskingPort } from './app.ts';

/** Uses the questions and Grants of this Writ home and closes what that opened. */
export async function withAsking(app: () => Promise<App>, use: (asking: AskingPort, app: App) => Promise<void>): Promise<void> {
  const parts = await app();
  const asking = await parts.asking();
  try {
    await use(asking, parts);
  } finally {
    await asking.approvals.close();
    await (await parts.audit()).close();
  }
}
