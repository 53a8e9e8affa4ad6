import type { Stream } from '../shell/stream.ts';
import type { Text } from '../text.ts';
import type { Effect, Opening, Verdict } from '../types.ts';

/** What a program's table may say about one call. Everything ends up as a finding or as nothing. */
export interface Acts {
  report(effect: Effect, reason: string, more?: { readonly verdict?: Verdict; readonly opens?: Opening }): void;
  /** Judged by the path policy; answers with what this very command is known to have written there. */
  read(path: Text): Stream | undefined;
  /** Shows names and facts about what is there, not what is in it. */
  lists(path: Text): void;
  write(path: Text, content?: Stream): void;
  remove(path: Text, recursive: boolean): void;
  /** Throws away work in the repository or folder the command works in: a matter for a person inside the workspace, a no outside. */
  loses(reason: string): void;
  /** Changes all of a folder where it lies: nothing to do with a home or what holds it. */
  upsets(path: Text): void;
  /** The same call in another folder (`git -C`, `env -C`). */
  at(cwd: readonly Text[]): Call;
  /** Reaches other hosts; the words that name them, and presets for package registries. Loopback alone is no egress. */
  network(reason: string, words: readonly Text[], presets?: readonly string[]): void;
  /** A shell runs this text. `args`: its `$1`... */
  shell(
    text: Text,
    options?: {
      readonly stdin?: Stream;
      readonly args?: readonly Text[];
      readonly remote?: boolean;
      readonly lenient?: boolean;
      readonly zero?: Text;
    },
  ): Stream;
  /** The words from `at` on are a command of their own. `more`: words added at the end that aren't in the text. */
  inner(at: number, options?: { readonly stdin?: Stream; readonly words?: readonly Text[]; readonly env?: readonly Text[] }): Stream;
  /**
   * An interpreter runs the program at this path, in this stream or in this text. A file answers with what this very command is known
   * to have written there, for the interpreter to look at.
   */
  runsFile(path: Text, what: string): Stream | undefined;
  runsStream(stream: Stream, what: string): void;
  runsText(text: Text, what: string): void;
  /** A file below the home that it can't work without, and that containment hides: a yes has to show it. */
  needs(...paths: readonly string[]): void;
  /** A path below the home, absolute, and what it leads to where that is another one. */
  own(path: string): readonly string[];
  /** The folder of the agent's that the call works in: as far up as a repository can be seen to reach in containment. */
  workspace(): Text | undefined;
  /** The project has a program of this name, from wherever the call works: a package manager's runner starts that one. */
  installed(name: string): boolean;
  /** `ln -s`: paths below `link` lead below `target` from here on. */
  links(link: Text, target: Text): void;
  /** A variable given to a program (`env X=y cmd`). */
  environment(name: Text, value: Text): void;
  /** Text that is evaluated again (subscripts). */
  lurking(text: Text): void;
}

export interface Call extends Acts {
  /** The name the table was found under. */
  readonly name: string;
  readonly argv: readonly Text[];
  readonly args: readonly Text[];
  readonly stdin: Stream;
  readonly cwd: readonly Text[];
}

/** Judges one call and says what it prints; undefined: unknown text of the same origin as its input. */
export type Program = (call: Call) => Stream | undefined;
