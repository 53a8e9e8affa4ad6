import { createHash } from 'node:crypto';
import type { Logger } from '../../kernel/logger.ts';
import { type Rendered, SECTIONS, type Section } from './sections.ts';

export interface Live {
  /** Tells every section at once and then each time it changes, until the returned function is called. Undefined: too many watch. */
  watch(csrf: string, told: (section: Section, html: string) => void): (() => void) | undefined;
  close(): void;
}

interface LiveParts {
  look(section: Section): Promise<Rendered>;
  /** The first one came, the last one went. */
  onPresence(present: boolean): void;
  readonly logger: Logger;
}

/** Open pages. */
const MAX_WATCHERS = 16;

/** Questions are looked for often, what costs more to find out less so. */
const EVERY_MS: Readonly<Record<Section, number>> = { questions: 500, running: 1_000, servers: 2_000, decisions: 2_000, agents: 3_000 };
const TICK_MS = 500;

/** One look at the state for all pages that are open, and none while no page is. */
export function createLive({ look, onPresence, logger }: LiveParts): Live {
  interface Watcher {
    readonly csrf: string;
    readonly told: (section: Section, html: string) => void;
    readonly seen: Map<Section, string>;
  }
  const watchers = new Set<Watcher>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  const due = new Map<Section, number>();

  async function bringUpToDate(sections: readonly Section[]): Promise<void> {
    for (const section of sections) {
      const rendered = await look(section);
      for (const watcher of watchers) {
        const text = String(await rendered(watcher.csrf));
        const hash = createHash('sha256').update(text).digest('base64');
        if (!watchers.has(watcher) || watcher.seen.get(section) === hash) continue;
        watcher.seen.set(section, hash);
        watcher.told(section, text);
      }
    }
  }

  function tick(): void {
    if (looking) return;
    looking = true;
    const now = performance.now();
    const sections = SECTIONS.filter((section) => now >= (due.get(section) ?? 0));
    for (const section of sections) due.set(section, now + EVERY_MS[section]);
    bringUpToDate(sections)
      .catch((thrown: unknown) => logger.warn('the page could not be brought up to date', { reason: String(thrown) }))
      .finally(() => {
        looking = false;
      });
  }

  return {
    watch(csrf, told) {
      if (watchers.size >= MAX_WATCHERS) return undefined;
      const watcher = { csrf, told, seen: new Map() };
      watchers.add(watcher);
      if (watchers.size === 1) onPresence(true);
      due.clear();
      timer ??= setInterval(tick, TICK_MS).unref();
      tick();
      return () => {
        if (!watchers.delete(watcher) || watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        onPresence(false);
      };
    },
    close() {
      clearInterval(timer);
      if (watchers.size > 0) onPresence(false);
      watchers.clear();
    },
  };
}
