import type { CallContext, ShownCall } from '../tool.ts';
import type { Edit } from './replace.ts';

/** For whoever is asked: the text as it would be in the file, line breaks and all. */
export function shownWrite(path: string, content: string, context: CallContext): ShownCall {
  return { what: `write_file ${path}\n${content}`, cwd: context.workspaces[0]?.path ?? '/' };
}

export function shownEdits(path: string, edits: readonly Edit[], context: CallContext): ShownCall {
  const marked = (mark: string, text: string): string =>
    text
      .split('\n')
      .map((line) => `${mark} ${line}`)
      .join('\n');
  const each = edits.map((edit) =>
    [edit.replace_all ? 'everywhere:' : 'once:', marked('-', edit.old_string), marked('+', edit.new_string)].join('\n'),
  );
  return { what: [`patch ${path}`, ...each].join('\n'), cwd: context.workspaces[0]?.path ?? '/' };
}
