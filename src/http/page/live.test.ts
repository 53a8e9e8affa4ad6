import { html } from 'hono/html';
import { expect, test, vi } from 'vitest';
import { silentLogger as logger } from '../../kernel/logger.ts';
import { createLive } from './live.ts';
import { SECTIONS, type Section } from './sections.ts';

test('the state is looked at once for all pages that are open, and each has its own forms', async () => {
  const looks: Section[] = [];
  const presence: boolean[] = [];
  const live = createLive({
    look: async (section) => {
      looks.push(section);
      return (csrf) => html`${section} of ${csrf}`;
    },
    onPresence: (present) => void presence.push(present),
    logger,
  });
  const told: string[] = [];
  const leave = ['one', 'two'].map((csrf) => live.watch(csrf, (_, text) => void told.push(text)));
  await vi.waitFor(() => expect(told).toHaveLength(2 * SECTIONS.length));
  expect(looks).toEqual(SECTIONS);
  expect(told.toSorted()).toEqual(SECTIONS.flatMap((section) => [`${section} of one`, `${section} of two`]).toSorted());
  for (const end of leave) end?.();
  expect(presence).toEqual([true, false]);
  live.close();
});
