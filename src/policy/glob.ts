import { CLOSE, DEEP, FOREIGN, HOLE, ONE, OPEN, SOME, STAR, type Text } from './text.ts';

const escaped = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** One marked path component as a regular expression source. A hole matches anything, so a match means "may be". */
export function patternSource(text: Text, slash: boolean): string {
  let source = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    switch (char) {
      case HOLE:
      case FOREIGN:
      case DEEP:
        source += '.*';
        break;
      case STAR:
        source += slash ? '.*' : '[^/]*';
        break;
      case SOME:
        source += '[^/.]+';
        break;
      case ONE:
        source += slash ? '.' : '[^/]';
        break;
      case OPEN: {
        const end = text.indexOf(CLOSE, i + 2);
        if (end < 0) source += '\\[';
        else {
          source += bracket(text.slice(i + 1, end));
          i = end;
        }
        break;
      }
      case CLOSE:
        source += '\\]';
        break;
      default:
        source += escaped(char);
    }
  }
  return source;
}

function bracket(content: string): string {
  const negated = content[0] === '!' || content[0] === '^';
  const inside = negated ? content.slice(1) : content;
  // A class such as [:alpha:] is read as "any character": wider is stricter here.
  if (inside.includes('[:') || inside.includes(OPEN)) return '.';
  const body = inside.replace(/[\\\]^]/g, '\\$&');
  // A range that runs backwards would be a syntax error for us; bash matches nothing with it.
  for (const range of inside.matchAll(/(.)-(.)/gs)) if ((range[1] ?? '') > (range[2] ?? '')) return '.';
  return `[${negated ? '^' : ''}${body}]`;
}

/** Could the marked component be a name? */
export function mayBe(component: Text): (name: string) => boolean {
  const expression = new RegExp(`^${patternSource(component, false)}$`, 's');
  return (name) => expression.test(name);
}
