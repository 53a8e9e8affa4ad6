import { fileURLToPath } from 'node:url';
import { Language, Parser } from 'web-tree-sitter';

export interface SeenBySitter {
  /** It found no error and nothing missing. */
  readonly clean: boolean;
  /** Where the name of each simple command stands, and its text. */
  readonly commands: readonly { readonly at: number; readonly name: string }[];
}

/** tree-sitter-bash: another grammar by other people, made for editors, so it forgives much and knows some things wrong. */
export async function loadTreeSitter(): Promise<(text: string) => SeenBySitter> {
  await Parser.init();
  const language = await Language.load(fileURLToPath(import.meta.resolve('tree-sitter-bash/tree-sitter-bash.wasm')));
  const parser = new Parser();
  parser.setLanguage(language);
  return (text) => {
    const tree = parser.parse(text);
    if (tree === null) return { clean: false, commands: [] };
    try {
      const commands = tree.rootNode
        .descendantsOfType('command_name')
        .flatMap((node) => (node === null ? [] : [{ at: node.startIndex, name: node.text }]));
      return { clean: !tree.rootNode.hasError, commands };
    } finally {
      // Its memory is not the garbage collector's.
      tree.delete();
      parser.reset();
    }
  };
}
