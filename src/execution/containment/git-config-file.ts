/** One setting of a git configuration file; sections and keys in lower case, subsections as written. */
export interface GitSetting {
  readonly section: string;
  readonly subsection?: string;
  readonly key: string;
  readonly value: string;
}

export interface GitConfigFile {
  /** Later settings of a key follow earlier ones. */
  readonly settings: readonly GitSetting[];
  /** False when a line is none that this reader knows: then git may see settings that are not listed. */
  readonly understood: boolean;
}

const HEADER = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/;
const NAME = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };

/** Reads a value from `at` to the end of its (possibly continued) line. */
function readValue(text: string, at: number): { value: string; next: number; good: boolean } {
  let value = '';
  // What is outside of quotes loses its trailing blanks, what is inside keeps them.
  let solid = 0;
  let quoted = false;
  let i = at;
  for (; i < text.length && text[i] !== '\n'; i++) {
    const char = text[i] ?? '';
    if (char === '\\') {
      const next = text[++i] ?? '';
      if (next === '\n') continue;
      const meant = ESCAPES[next];
      if (meant === undefined) return { value, next: text.length, good: false };
      value += meant;
      solid = value.length;
    } else if (char === '"') {
      quoted = !quoted;
      solid = value.length;
    } else if (!quoted && (char === '#' || char === ';')) {
      while (i + 1 < text.length && text[i + 1] !== '\n') i++;
    } else {
      value += char;
      if (quoted || !/\s/.test(char)) solid = value.length;
    }
  }
  return { value: value.slice(0, solid), next: i, good: !quoted };
}

/** Reads a git configuration file as git does, without following includes and without starting git, which the file could steer. */
export function readGitConfig(source: string): GitConfigFile {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const settings: GitSetting[] = [];
  let section = '';
  let subsection: string | undefined;
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (/\s/.test(char)) at++;
    else if (char === '#' || char === ';') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if (char === '[') {
      const header = HEADER.exec(text.slice(at, at + 4096));
      if (!header) return { settings, understood: false };
      section = (header[1] ?? '').toLowerCase();
      subsection = header[2]?.replace(/\\(.)/g, '$1');
      at += header[0].length;
    } else {
      const name = NAME.exec(text.slice(at, at + 4096));
      if (!name || section === '') return { settings, understood: false };
      at += name[0].length;
      let value = 'true';
      if (text[at] === '=') {
        while (text[at + 1] === ' ' || text[at + 1] === '\t') at++;
        const read = readValue(text, at + 1);
        if (!read.good) return { settings, understood: false };
        value = read.value;
        at = read.next;
      } else if (at < text.length && text[at] !== '\n') return { settings, understood: false };
      settings.push({ section, ...(subsection === undefined ? {} : { subsection }), key: (name[1] ?? '').toLowerCase(), value });
    }
  }
  return { settings, understood: true };
}

/** The last value of a plain setting (`section.key`, no subsection). */
export function lastValue(settings: readonly GitSetting[], section: string, key: string): string | undefined {
  return settings.findLast((one) => one.section === section && one.subsection === undefined && one.key === key)?.value;
}
