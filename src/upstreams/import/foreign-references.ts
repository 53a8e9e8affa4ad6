import { isDeclared, referencesIn } from '../settings/references.ts';

export interface ReferenceParts {
  readonly server: string;
  readonly home: string | undefined;
  /** `$NAME` alone is a reference, as it is for Gemini CLI. */
  readonly bare: boolean;
}

/** What is met on the way. */
export interface Met {
  readonly declared: Set<string>;
  readonly wanted: Set<string>;
  readonly notes: Set<string>;
  /** It can't be right before a person has mended it. */
  broken: boolean;
}

/** Where an editor stands: nothing that a variable holds. */
const OF_EDITORS =
  /^(?:workspaceFolder|workspaceRoot|workspaceFolderBasename|cwd|extensionPath|fileDirname|file|__dirname|CLAUDE_PLUGIN_ROOT)$/;

const NAME = '[A-Za-z_][A-Za-z0-9_]*';

/** References as other programs write them, as Writ writes them; names that they use are declared. */
export function translateReferences(text: string, { server, home, bare }: ReferenceParts, met: Met): string {
  let out = text
    .replace(new RegExp(`\\$\\{env:(${NAME})\\}|\\{env:(${NAME})\\}`, 'g'), (_, one?: string, other?: string) => `\${${one ?? other}}`)
    .replaceAll(/\$\{userHome\}/g, (whole) => home ?? whole)
    .replaceAll(/\$\{(?:pathSeparator|\/)\}/g, '/')
    .replace(/\$\{input:([^{}]{1,200})\}|(?<!\$)\{file:([^{}]{1,500})\}/g, (_, input?: string, file?: string) => {
      const name = secretName(server, input ?? file?.split('/').at(-1) ?? 'file');
      met.wanted.add(name);
      if (file !== undefined) met.notes.add(`it read a value from the file ${file}: \`writ secret set ${name} < ${file}\``);
      return `\${secret:${name}}`;
    });
  if (bare) out = out.replace(new RegExp(`\\$(${NAME})`, 'g'), (_, name: string) => `\${${name}}`);
  for (const reference of referencesIn(out)) {
    if (reference.kind === 'foreign' || (reference.kind === 'variable' && OF_EDITORS.test(reference.name))) {
      met.notes.add(`${reference.source} means nothing here: write what it stands for`);
      met.broken = true;
    } else if (reference.kind === 'variable' && !isDeclared(reference.name, [])) met.declared.add(reference.name);
  }
  return out;
}

export function secretName(server: string, of: string): string {
  return `${server}.${of}`.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 128);
}
