import type { Command, SyntaxNode } from 'unbash';

/**
 * Spellings that the parser reads otherwise than bash does, found by comparing the two. Nobody writes them by hand, so they are refused
 * and not understood a second time here. Says what it is, or undefined where the node is read rightly.
 */
export function misread(node: SyntaxNode): string | undefined {
  if (CUT_DOLLAR.test(plainText(node)) || cutsName(node)) return 'the name of a variable is cut by a line continuation';
  if (node.type === 'Assignment' && node.value.type === 'Word' && node.value.text[0] === '(') {
    return 'an array that goes on behind its parenthesis';
  }
  if (node.type !== 'ArithmeticWord' && OVERLOOKED.test(plainText(node))) return 'a substitution that the parser did not look into';
  if (node.type === 'Command' && cutsDescriptor(node)) return 'the number of a descriptor is cut by a line continuation';
  if (node.type === 'Command' && goesOnBehindPipe(node)) return 'the name of a file goes on behind a process substitution';
  if (node.type === 'ParameterExpansion' && node.operation?.type === 'Unknown' && HIDES.test(node.text)) {
    return 'a parameter expansion of an unknown kind, and more is inside it';
  }
  if (node.type === 'CommandExpansion' && node.text[0] === '`' && node.text.includes("'") && node.text.includes('\\\n')) {
    return 'in backticks a line goes on inside single quotes too';
  }
  if (node.type === 'AnsiCQuoted' && LINE_CONTINUED.test(node.text)) return "a backslash at the end of a line means itself inside $'...'";
  if (node.type === 'Redirect' && DUPLICATES.has(node.operator) && CLOSES.test(node.target?.text ?? '')) {
    return 'what follows >&- is a word of its own to bash';
  }
  return undefined;
}

/** Bash takes a backslash and its line feed away before it looks for what follows a `$` and where the name ends. */
function cutsName(node: SyntaxNode): boolean {
  const parts = 'parts' in node ? (node.parts ?? []) : [];
  return parts.some((part, at) => {
    if (part.type !== 'Literal' || parts[at - 1]?.type !== 'SimpleExpansion') return false;
    return (at < parts.length - 1 ? CUT_BEFORE_MORE : CUT_NAME).test(part.text);
  });
}

/** `0`, the end of the line, `>&1`: no word 0, but the descriptor. */
function cutsDescriptor({ name, args, redirects }: Command): boolean {
  const words = name === undefined ? args : [name, ...args];
  return redirects.some(({ pos }) => words.some(({ end, text }) => end === pos && CUT_DESCRIPTOR.test(text)));
}

/** `> >(a)b`: the b is no word of its own. */
function goesOnBehindPipe({ name, args, redirects }: Command): boolean {
  const words = name === undefined ? args : [name, ...args];
  return redirects.some((redirect) => {
    const target = redirect.type === 'Redirect' ? redirect.target : undefined;
    return target?.parts?.at(-1)?.type === 'ProcessSubstitution' && words.some(({ pos }) => pos === target.end);
  });
}

/** A net under the others. Arithmetic has one of its own, since a variable in it may hold such a text too. */
const OVERLOOKED = /(?:^|[^\\])(?:\\\\)*(?:\$\(|`)/;
const CUT_DOLLAR = /(?:^|[^\\])(?:\\\\)*\$(?:\\\n)+\S/;
const CUT_NAME = /^(?:\\\n)+\w/;
const CUT_BEFORE_MORE = /^(?:\\\n)+(?:\w|$)/;
const CUT_DESCRIPTOR = /^(?=.*\\\n)(?:[\d\\\n]+|\{[\w\\\n]*\}[\\\n]*)$/s;
/** Not looked into by the parser. */
const HIDES = /[`(]|\\\n/;
const LINE_CONTINUED = /(?:^|[^\\])(?:\\\\)*\\\n/;
const DUPLICATES = new Set(['>&', '<&']);
const CLOSES = /^(?:\\\n)*-./s;

/** The source of a word or a part of one that holds no expansion, as the parser sees it. */
function plainText(node: SyntaxNode): string {
  switch (node.type) {
    case 'Word':
      return node.parts === undefined ? node.text : '';
    case 'Literal':
      // What follows may be the next part: a quote, an expansion.
      return `${node.text}.`;
    case 'ArithmeticWord':
      return node.value;
    default:
      return '';
  }
}
