/** One `key = value` line of a git configuration file; sections and keys in lower case, subsections as written. */
export interface GitSetting {
  readonly section: string;
  readonly subsection?: string;
  readonly key: string;
  readonly value: string;
}

function unquote(raw: string): string {
  let value = '';
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i] ?? '';
    if (char === '\\') {
      const next = raw[++i] ?? '';
      value += next === 'n' ? '\n' : next === 't' ? '\t' : next === 'b' ? '\b' : next;
    } else if (char === '"') quoted = !quoted;
    else if ((char === '#' || char === ';') && !quoted) break;
    else value += char;
  }
  return quoted ? value : value.trim();
}

/**
 * Reads a git configuration file the way git does, without following includes or starting git (whose own start-up the file could
 * steer). Lines that git would refuse are skipped. Later settings of a key follow earlier ones.
 */
export function parseGitConfig(text: string): readonly GitSetting[] {
  const settings: GitSetting[] = [];
  let section = '';
  let subsection: string | undefined;
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    let rest = line.trim();
    const header = /^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
    if (header) {
      section = (header[1] ?? '').toLowerCase();
      subsection = header[2]?.replace(/\\(.)/g, '$1');
      rest = rest.slice(header[0].length).trim();
    }
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(rest);
    if (!setting || section === '') continue;
    const value = setting[2] === undefined ? 'true' : unquote(setting[2]);
    settings.push({ section, ...(subsection === undefined ? {} : { subsection }), key: (setting[1] ?? '').toLowerCase(), value });
  }
  return settings;
}

/** The last value of a plain setting (`section.key`, no subsection). */
export function lastValue(settings: readonly GitSetting[], section: string, key: string): string | undefined {
  return settings.findLast((one) => one.section === section && one.subsection === undefined && one.key === key)?.value;
}
