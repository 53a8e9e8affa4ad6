import { defaultConfig } from './defaults.ts';
import { SETTINGS, VARIABLES } from './settings.ts';

const PROJECT_WORDS = {
  no: 'no',
  smaller: 'may lower it',
  stricter: 'may make it stricter',
  append: 'may add to it',
  narrow: 'may leave out',
  add: 'may bring in, with approval',
} as const;

/** docs/reference/config.md: the table of all settings with defaults and units, from the same data that is used at run time. */
export function configReference(): string {
  const defaults: unknown = defaultConfig({ cores: 1, memory_bytes: 1024 ** 4 });
  const variables = new Map(Object.entries(VARIABLES).map(([name, path]) => [path, name]));
  const rows = Object.entries(SETTINGS).map(([path, { meaning, unit, project }]) => {
    const value = path
      .split('.')
      .reduce<unknown>((tree, key) => (typeof tree === 'object' && tree !== null ? Reflect.get(tree, key) : undefined), defaults);
    const standard = path === 'sandbox.limits.cpus' ? 'all' : unit === 'bytes' ? inUnits(Number(value)) : JSON.stringify(value);
    const variable = [...variables].find(([setting]) => setting === path)?.[1];
    return `| \`${path}\` | \`${standard}\` | ${unit ?? ''} | ${meaning.replaceAll('|', '\\|')} | ${PROJECT_WORDS[project]} | ${variable === undefined ? '' : `\`${variable}\``} |`;
  });
  return `# Configuration

Two files, both optional, both JSON with comments and trailing commas:

- \`~/.writ/config.json\`, the operator's. It is trusted, must belong to this user and must not be writable by others.
- \`writ.json\` in the workspace, the project's. Nobody has approved it, so it may only tighten; what would loosen is ignored with a warning.

\`~\` is the home of the passwd entry of the real user id, not \`HOME\`. \`WRIT_HOME\` (an absolute path) moves \`~/.writ\`.

Precedence: flag, environment, project (tighten only), operator, default. \`writ config check\` shows every value and where it came from.
Start-up stops, naming file and line, on: text that is no JSON, a key given twice, a misspelt or misplaced key that guards something, any unknown key in \`dangerous\`,
an unknown effect or verdict, a wrong type, zero or a negative number. Any other unknown key is a warning.
Sizes are bytes or a text such as \`"512MiB"\` or \`"4GiB"\`. [config.schema.json](config.schema.json) is the same for editors.

| setting | default | unit | meaning | a project | variable |
|---|---|---|---|---|---|
${rows.join('\n')}

A rule is \`{"argv": ["git", "push", "**"], "reason": "...", "match": ["git push origin"], "not_match": ["git pull"]}\`: words to match in order, \`"*"\` for exactly one
word, \`"**"\` (last) for any rest, a list for alternatives. \`match\` and \`not_match\` are command lines that are checked when the rule is loaded.
`;
}

function inUnits(bytes: number): string {
  return bytes % 1024 ** 3 === 0 ? `${bytes / 1024 ** 3}GiB` : bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2}MiB` : `${bytes / 1024}KiB`;
}
