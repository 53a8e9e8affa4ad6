import { CLOSE, DEEP, FOREIGN, HOLE, ONE, OPEN, SOME, STAR, type Text } from './text.ts';

/** A pattern is a row of these: one character that fits, or (`many`) any number of them. */
interface Step {
  readonly many: boolean;
  fits(char: string): boolean;
}

export interface Glob {
  matches(text: string): boolean;
  /** Lengths of the beginnings of the text that match, shortest first. */
  beginnings(text: string): readonly number[];
  /** Lengths of the ends of the text that match, shortest first. */
  ends(text: string): readonly number[];
  /** What asking about `length` characters costs, in looks at one character. */
  cost(length: number): number;
}

const any = (): boolean => true;
const noSlash = (char: string): boolean => char !== '/';
const plain = (char: string): boolean => char !== '/' && char !== '.';

/**
 * A marked text as a pattern. A hole matches anything, so a match means "may be". Not a regular expression: those go back and try again, and
 * whoever writes the pattern could make that take for ever. This looks at each character once for each step, and there are never more than
 * twice as many steps as characters that could match.
 */
export function compileGlob(text: Text, slash: boolean): Glob {
  const steps = stepsOf(text, slash);
  const back = steps.toReversed();
  const least = steps.filter(({ many }) => !many).length;
  return {
    matches: (word) => word.length >= least && lengths(steps, word).at(-1) === word.length,
    beginnings: (word) => (word.length < least ? [] : lengths(steps, word)),
    ends: (word) => (word.length < least ? [] : lengths(back, word.split('').reverse().join(''))),
    cost: (length) => (length < least ? 1 : length * steps.length),
  };
}

/** Could the marked component be this name? */
export function mayBe(component: Text): (name: string) => boolean {
  return compileGlob(component, false).matches;
}

function stepsOf(text: Text, slash: boolean): readonly Step[] {
  const steps: Step[] = [];
  const one = (fits: Step['fits']): void => void steps.push({ many: false, fits });
  const many = (fits: Step['fits']): void => {
    const last = steps.at(-1);
    // Next to each other the wider one is enough.
    if (last?.many !== true || last.fits === plain) steps.push({ many: true, fits });
    else if (fits === any) steps[steps.length - 1] = { many: true, fits };
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    switch (char) {
      case HOLE:
      case FOREIGN:
      case DEEP:
        many(any);
        break;
      case STAR:
        many(slash ? any : noSlash);
        break;
      case SOME:
        one(plain);
        steps.push({ many: true, fits: plain });
        break;
      case ONE:
        one(slash ? any : noSlash);
        break;
      case OPEN: {
        const end = text.indexOf(CLOSE, i + 2);
        if (end < 0) one((other) => other === '[');
        else {
          one(bracket(text.slice(i + 1, end)));
          i = end;
        }
        break;
      }
      case CLOSE:
        one((other) => other === ']');
        break;
      default:
        one((other) => other === char);
    }
  }
  return steps;
}

function bracket(content: string): Step['fits'] {
  const negated = content[0] === '!' || content[0] === '^';
  const inside = negated ? content.slice(1) : content;
  // A class such as [:alpha:] is read as "any character": wider is stricter here.
  if (inside.includes('[:') || inside.includes(OPEN)) return any;
  const body = inside.replace(/[\\\]^]/g, '\\$&');
  // A range that runs backwards would be a syntax error for us; bash matches nothing with it.
  for (const range of inside.matchAll(/(.)-(.)/gs)) if ((range[1] ?? '') > (range[2] ?? '')) return any;
  const expression = new RegExp(`^[${negated ? '^' : ''}${body}]$`, 's');
  return (char) => expression.test(char);
}

/** How many characters from the start the steps can have matched, each possible number once, in order. */
function lengths(steps: readonly Step[], word: string): readonly number[] {
  const found: number[] = [];
  let here = new Set<number>();
  reach(0, here, steps);
  for (let at = 0; here.size > 0; at++) {
    if (here.has(steps.length)) found.push(at);
    const char = word[at];
    if (char === undefined) break;
    const next = new Set<number>();
    for (const place of here) {
      const step = steps[place];
      if (step?.fits(char)) reach(step.many ? place : place + 1, next, steps);
    }
    here = next;
  }
  return found;
}

/** A place and, since many may be none, the ones behind it. */
function reach(place: number, places: Set<number>, steps: readonly Step[]): void {
  for (let at = place; !places.has(at); at++) {
    places.add(at);
    if (steps[at]?.many !== true) return;
  }
}
