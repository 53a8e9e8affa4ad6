/** What a person types in one line, as an entry has it. It is checked like any other value afterwards. */

/** A folder that a server may read; with `:write` at its end it may write there. */
export function rootTyped(text: string): unknown {
  const [, path = text, access] = /^(.*):(read|write)$/s.exec(text) ?? [];
  return access === 'write' ? { path, access } : path;
}

/** `none`, `full`, or hosts and presets with commas or spaces between them. */
export function networkTyped(text: string): unknown {
  return text === 'none' || text === 'full' ? text : text.split(/[\s,]+/).filter((host) => host !== '');
}
