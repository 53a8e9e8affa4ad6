import type { Guard } from '../../execution/index.ts';
import type { ToolImage } from '../tool.ts';

/** What a page is asked to do, beyond showing itself. */
export type Act =
  | { readonly action: 'navigate'; readonly url: string }
  | { readonly action: 'back' }
  | { readonly action: 'click'; readonly ref: string }
  | { readonly action: 'type'; readonly ref: string; readonly text: string; readonly submit: boolean }
  | { readonly action: 'press'; readonly key: string; readonly ref?: string }
  | { readonly action: 'select'; readonly ref: string; readonly values: readonly string[] };

/** A page as text. Everything in it was written by whoever made the page. */
export interface PageView {
  readonly url: string;
  readonly title: string;
  /** One line per element, with references where something can be done. */
  readonly lines: readonly string[];
  /** Of the page and of frames in it, with a port where it isn't the usual one. */
  readonly hosts: readonly string[];
}

/** One page of one Run, in whatever it is shown by. A call of it may be given up at any time; then it is closed. */
export interface BrowserPage {
  url(): string;
  /** HTTP status of what it led to, where it led anywhere. AppError for what can't be done. */
  perform(act: Act): Promise<{ readonly status?: number }>;
  view(): Promise<PageView>;
  screenshot(): Promise<ToolImage>;
  /** What happened by itself since it was last asked (dialogs, windows, downloads, ways that were barred), in the page's own words. */
  takeEvents(): readonly string[];
  /** Resolves when the page is no more although nobody closed it, with why. */
  readonly gone: Promise<string>;
  close(): Promise<void>;
}

export interface PageInput {
  /** Every connection is made through it. */
  readonly guard: Guard;
  /** Where the page as a whole may go; a text says why not. */
  barred(url: string): Promise<string | undefined>;
}

export type Mode = 'chromium' | 'fetch';

/** What shows pages. */
export interface Engine {
  readonly mode: Mode;
  /** For every answer: what this mode can't do and why it is used. */
  readonly notes: readonly string[];
  /** AppError busy when it shows as many as it can. */
  open(input: PageInput): Promise<BrowserPage>;
  /** Resolves when it has ended by itself, with why. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}
