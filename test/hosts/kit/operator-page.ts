import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { UpProcess } from '../../helpers/up-process.ts';

/** The page of `writ up` in a real browser, as the operator has it open. */
export interface OperatorPage {
  /** Waits for the question about this text and clicks "Approve this once". */
  approve(text: string): Promise<void>;
  close(): Promise<void>;
}

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const PATIENCE_MS = 120_000;

export async function openOperatorPage({ link }: UpProcess): Promise<OperatorPage> {
  const executablePath = CHROMIUM.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error('Chromium is needed to answer on the page: apt-get install chromium');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(link);
  await page.getByText('live', { exact: true }).waitFor();
  return {
    async approve(text) {
      const question = page.locator('article').filter({ has: page.locator('pre', { hasText: text }) });
      await question.getByRole('button', { name: 'Approve this once' }).click();
      await page.getByText('Approved.').waitFor();
    },
    close: () => browser.close(),
  };
}
