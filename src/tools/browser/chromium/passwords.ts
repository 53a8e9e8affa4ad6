import type { Page } from 'playwright-core';

/** A field with something in it, as a snapshot writes it. */
const FILLED = /^(\s*- textbox .*\[ref=((?:f\d+)?e\d+)\][^:]*): .+$/;
/** Fields that are looked at; what is in further ones is hidden unseen. */
const MAX_FIELDS = 200;

/** Snapshots show what fields hold, and a browser shows passwords only as dots. */
export async function hidePasswords(page: Page, lines: readonly string[]): Promise<readonly string[]> {
  let looked = 0;
  const shown: string[] = [];
  for (const line of lines) {
    const [, field, ref] = FILLED.exec(line) ?? [];
    if (field === undefined || ref === undefined) {
      shown.push(line);
      continue;
    }
    looked += 1;
    const hidden = looked > MAX_FIELDS || (await isPassword(page, ref));
    shown.push(hidden ? `${field}: [hidden]` : line);
  }
  return shown;
}

async function isPassword(page: Page, ref: string): Promise<boolean> {
  try {
    return (await page.getByRef(ref).getAttribute('type', { timeout: 1_000 }))?.toLowerCase() === 'password';
  } catch {
    // It went away meanwhile: nobody can say any more what it was.
    return true;
  }
}
