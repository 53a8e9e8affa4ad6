import { fileError } from './file-error.ts';

/** Folders that tools fill and people don't read. Hidden folders are skipped besides. */
const SKIPPED_FOLDERS = ['node_modules', 'vendor', '__pycache__', 'target', 'dist', 'build'] as const;
/** A larger file is no text that anybody searches. */
const MAX_FILE_SIZE = '256M';
const MAX_GLOB = 1000;

export interface SearchAsked {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context: number;
  readonly include_ignored: boolean;
}

/** What is looked at: nothing of the person's own ripgrep settings, .gitignore files whether or not git is there. */
function common(include_ignored: boolean): readonly string[] {
  const skipped = ['.*/', ...SKIPPED_FOLDERS.map((name) => `${name}/`)].flatMap((glob) => ['-g', `!${glob}`]);
  return [
    '--no-config',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-messages',
    ...(include_ignored ? ['--no-ignore'] : skipped),
  ];
}

/** A glob for names goes as a file type: unlike `-g`, which outranks .gitignore, a type only narrows. */
function nameGlob(glob: string): readonly string[] {
  return ['--type-add', `asked:${glob.startsWith('include:') ? `[i]${glob.slice(1)}` : glob}`, '--type', 'asked'];
}

/** `operand` is `./`, or the file. */
export function contentArgs(asked: SearchAsked, glob: string | undefined, operand: string): readonly string[] {
  return [
    ...common(asked.include_ignored),
    ...(glob === undefined || glob.includes('/') ? [] : nameGlob(glob)),
    ...['--json', '--sort', 'path', '--crlf', '--max-filesize', MAX_FILE_SIZE],
    ...(asked.context > 0 ? ['--context', String(asked.context)] : []),
    ...(asked.ignore_case ? ['--ignore-case'] : ['--case-sensitive']),
    ...(asked.literal ? ['--fixed-strings'] : []),
    `--regexp=${asked.pattern}`,
    '--',
    operand,
  ];
}

/** Files by name, newest first. */
export function listArgs(include_ignored: boolean, glob: string | undefined, operand: string): readonly string[] {
  return [
    ...common(include_ignored),
    ...(glob === undefined || glob.includes('/') ? [] : nameGlob(glob)),
    ...['--files', '--null', '--sortr', 'modified', '--', operand],
  ];
}

/** Every file that a glob with folders names, ignored ones too: what is searched is narrowed to these. */
export function globArgs(include_ignored: boolean, glob: string): readonly string[] {
  return ['-g', glob, ...common(include_ignored), '--files', '--null', '--', './'];
}

/** Throws for a glob that leads out of the searched folder, or can't be one. */
export function checkGlob(name: string, glob: string): void {
  if (glob === '' || glob.length > MAX_GLOB || glob.includes('\0') || glob.startsWith('!')) {
    throw fileError('bad_pattern', `${name}: must be a glob such as "*.ts" or "src/**/*.ts".`);
  }
  if (glob.startsWith('/') || glob.startsWith('~') || glob.split('/').includes('..')) {
    throw fileError(
      'outside',
      `${name}: "${glob}" leads out of the searched folder.`,
      'Name the folder with `path`, and a glob inside it.',
    );
  }
}

/** What ripgrep says when it can't make sense of an argument. */
export function patternProblem(stderr: string): string | undefined {
  const told =
    /regex parse error|is not allowed in a regex|error parsing glob|compiled regex exceeds|regex could not|unrecognized escape|error: |look-around|backreferences/;
  if (!told.test(stderr)) return undefined;
  return stderr.replaceAll('rg: ', '').split('\n\n')[0]?.slice(0, 500);
}
