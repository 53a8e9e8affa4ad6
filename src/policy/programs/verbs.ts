import type { Stream } from '../shell/stream.ts';
import { isKnown, isUnknown, type Text } from '../text.ts';
import type { Effect, Opening, Verdict } from '../types.ts';
import { applyRole } from './define.ts';
import { launched } from './launched.ts';
import { type OptionTable, optionTable, readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';

/** What one verb of a program with verbs (`git status`, `npm ci`) does. */
export type Outcome =
  | 'safe'
  | 'write'
  | 'code'
  | 'unknown'
  | 'net'
  | 'upload'
  | 'install'
  | 'system'
  | 'host'
  | 'secret'
  | 'persist'
  | 'lose'
  | 'destroy';

interface Meaning {
  readonly effect: Effect;
  readonly verdict?: Verdict;
  readonly phrase: string;
}

const MEANINGS: Readonly<Record<Outcome, Meaning>> = {
  safe: { effect: 'safe', phrase: 'only reads' },
  write: { effect: 'local_write', phrase: 'writes in the workspace' },
  code: { effect: 'code_execution', phrase: 'runs code of the project' },
  unknown: { effect: 'unknown', phrase: 'does something that cannot be decided' },
  net: { effect: 'network_egress', phrase: 'reaches other hosts' },
  upload: { effect: 'network_egress', phrase: 'sends data to another host' },
  install: { effect: 'install', phrase: 'downloads and installs software' },
  system: { effect: 'system_write', phrase: 'changes the system outside the workspace' },
  host: { effect: 'system_write', phrase: 'needs a service of the host that containment hides' },
  secret: { effect: 'credential_access', phrase: 'shows secrets' },
  persist: { effect: 'persistence', phrase: 'makes something run later' },
  lose: { effect: 'destructive', verdict: 'prompt', phrase: 'throws away work in the workspace' },
  destroy: { effect: 'destructive', phrase: 'destroys data that cannot be brought back' },
};

/** Their `run` takes a command. */
const LAUNCHERS = /^(hatch|rye|pixi|conda|mamba|micromamba|nvm|fnm|volta|heroku|bun)$/;

const ADDRESS = /^(https?|ssh|git):\/\//i;

export function outcome(call: Call, verb: string, what: Outcome, words: readonly Text[], presets: readonly string[] = []): void {
  if (what === 'safe') return;
  const { effect, verdict, phrase } = MEANINGS[what];
  const reason = `${verb} ${phrase}`;
  if (what === 'net' || what === 'upload') {
    // Of what has hosts of its own, the words are names of packages or projects (`npm view left@1.0.0`), unless they say otherwise.
    call.network(reason, presets.length === 0 ? words : words.filter((word) => ADDRESS.test(word)), presets);
    return;
  }
  const opens: Opening | undefined =
    what === 'install'
      ? { type: 'hosts', hosts: [], presets }
      : what === 'host' || what === 'system'
        ? { type: 'uncontained', why: `${call.name} works on the host itself` }
        : undefined;
  call.report(effect, reason, { ...(verdict === undefined ? {} : { verdict }), ...(opens === undefined ? {} : { opens }) });
}

export interface Verbs {
  /** Options before the verb, see options.ts. */
  readonly globals?: string;
  readonly oneDash?: boolean;
  /** Lines `verb [verb]: outcome outcome`; `*` is any other verb, an empty verb is the bare program. Later words of a line are alternatives by `|`. */
  readonly table: string;
  readonly presets?: readonly string[];
  /** Options after the verb whose role matters. */
  readonly options?: string;
  readonly also?: (call: Call, verb: string, words: Words, outcomes: readonly Outcome[]) => Stream | undefined;
}

export function verbs(spec: Verbs): Program {
  const globals: OptionTable = optionTable(spec.globals ?? '', spec.oneDash ?? false);
  const options: OptionTable = optionTable(spec.options ?? '', spec.oneDash ?? false);
  const table = new Map<string, readonly Outcome[]>();
  for (const line of spec.table.split('\n')) {
    const [names, what] = line.split(':').map((part) => part.trim());
    if (names === undefined || what === undefined) continue;
    for (const name of names.split('|')) table.set(name.trim(), what.split(' ').filter((word) => word !== '') as Outcome[]);
  }
  return (call) => {
    const before = readWords(call.args, globals, true);
    for (const { role, value, name } of before.options) if (role !== undefined && value !== undefined) applyRole(call, role, value, name);
    const start = before.at[0];
    const rest = start === undefined ? [] : call.args.slice(start);
    const first = rest[0] ?? '';
    if (isUnknown(first)) {
      call.report('unknown', `which ${call.name} command it is cannot be known from the text`);
      return undefined;
    }
    // A second verb may stand behind options: `docker --context x image rm`, `gh repo -R a/b view`.
    const words = readWords(rest.slice(1), options);
    const second = words.operands[0] ?? '';
    const third = words.operands[1] ?? '';
    const names = [`${first} ${second} ${third}`, `${first} ${second}`, first, ...(start === undefined ? [] : ['*'])];
    const name = names.find((one) => table.has(one.trim()));
    const outcomes = (name === undefined ? undefined : table.get(name.trim())) ?? ['unknown'];
    const shown = `${call.name} ${name === '*' || name === undefined ? (isKnown(first) ? first : '') : name}`.trim();
    const open = isUnknown(second) && [...table.keys()].some((key) => key.startsWith(`${first} `));
    if (open) call.report('unknown', `which ${call.name} ${first} command it is cannot be known from the text`);
    for (const { role, value, name: option } of words.options)
      if (role !== undefined && value !== undefined) applyRole(call, role, value, option);
    if (words.has('help')) return undefined;
    for (const what of outcomes) outcome(call, shown, what, words.operands, spec.presets);
    // What a program of the project gets as its words is its own (`cargo run -- rm x`); `exec` starts any other.
    if (/^(exec|x)$/.test(first) || outcomes.includes('unknown') || (first === 'run' && LAUNCHERS.test(call.name))) launched(call);
    return spec.also?.(call, first, words, outcomes);
  };
}
