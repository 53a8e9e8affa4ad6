/** The person at a terminal of their own. */
export interface Keyboard {
  /** Both what is typed and what is shown is a terminal. */
  readonly isTerminal: boolean;
  /** One key; undefined when the signal ends it. Ctrl-C, Ctrl-D and a closed terminal are `quit`. What was typed before the call is dropped. */
  key(signal: AbortSignal): Promise<string | undefined>;
  /** A line, without its end; undefined when the terminal is closed or Ctrl-C was typed. */
  line(prompt: string, options?: { readonly hidden?: boolean }): Promise<string | undefined>;
  close(): void;
}

export const QUIT = 'quit';
