import { startSandboxedBash } from './sandboxed-bash.ts';

/** What a real bash makes of a text without running it. */
export interface SeenByBash {
  readonly accepted: boolean;
  /** The text as bash prints it after parsing, where it was accepted. */
  readonly printed: string;
  readonly complaint: string;
}

export interface RealBash {
  parse(text: string): Promise<SeenByBash>;
  close(): void;
}

/** `-n` and `--pretty-print` parse only; the sandbox is for the day that a bash of some version doesn't. */
const PARSE = `
  bash -nc -- "$text" </dev/null >/dev/null 2>/tmp/complaint; status=$?
  printf '%s\\0' "$status" "$(</tmp/complaint)"
  if ((status == 0)); then
    printf %s "$text" >/tmp/text
    printf '%s\\0' "$(bash --pretty-print /tmp/text </dev/null 2>/dev/null)"
  fi`;

export function startRealBash(): RealBash {
  const bash = startSandboxedBash(PARSE);
  return {
    async parse(text) {
      const [status, complaint = '', printed = ''] = await bash.ask(text);
      // What is wrong inside [[ ]] is said and yet no failure of -n.
      return { accepted: status === '0' && !/syntax error|conditional/.test(complaint), printed, complaint };
    },
    close: bash.close,
  };
}
