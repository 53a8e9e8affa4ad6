import { type Command, forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash';
import { BUDGET, type Meter, NotUnderstood } from '../budget.ts';
import { misread } from './misread.ts';

/**
 * Parses, and refuses a tree that has an error anywhere or is deeper or larger than the budget. Nested scripts are parsed on the way,
 * and every simple command in it is added to `commands`.
 */
export function readScript(source: string, meter: Meter, commands: Command[]): ParsedScript {
  meter.chars(source.length);
  const nul = source.indexOf('\0');
  if (nul >= 0) throw new NotUnderstood('it holds a NUL character, which bash drops', nul);
  const script = parse(source);
  inspect(script, 0, meter, commands);
  return script;
}

function inspect(node: SyntaxNode, depth: number, meter: Meter, commands: Command[]): void {
  if (node.type === 'Command') commands.push(node);
  if (depth > BUDGET.depth) throw new NotUnderstood(`it is nested deeper than ${BUDGET.depth} levels`, node.pos);
  meter.nodes(1);
  const errors = 'errors' in node ? node.errors : undefined;
  const first = errors?.[0];
  if (first !== undefined) throw new NotUnderstood(`it is not a valid command: ${first.message}`, first.pos);
  const wrong = misread(node);
  if (wrong !== undefined) throw new NotUnderstood(wrong, node.pos);
  forEachChild(node, (child) => inspect(child, depth + 1, meter, commands));
}

/** Every simple command below a node. */
export function forEachCommand(node: SyntaxNode, visit: (command: Command) => void): void {
  if (node.type === 'Command') visit(node);
  forEachChild(node, (child) => forEachCommand(child, visit));
}
