import type { ArithmeticExpression } from 'unbash';
import { SOME, type Text } from '../text.ts';
import { held } from './parameters.ts';
import type { Arithmetic, Cell, Expander } from './parts.ts';

export interface ArithmeticHost {
  expander(): Expander;
  substitute(expression: Extract<ArithmeticExpression, { type: 'ArithmeticCommandExpansion' }>, cell: Cell): void;
}

/** Decimal: a leading zero makes it octal, `0x` and `base#` something else, and those are left open. */
const DECIMAL = /^-?(0|[1-9]\d{0,14})$/;
const ASSIGNS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '<<=', '>>=', '&=', '^=', '|=']);

export function createArithmetic(host: ArithmeticHost): Arithmetic {
  function value(expression: ArithmeticExpression, cell: Cell): number | undefined {
    switch (expression.type) {
      case 'ArithmeticBinary': {
        if (ASSIGNS.has(expression.operator)) return assign(expression, cell);
        const left = value(expression.left, cell);
        const right = value(expression.right, cell);
        return left === undefined || right === undefined ? undefined : binary(expression.operator, left, right);
      }
      case 'ArithmeticUnary': {
        const operand = value(expression.operand, cell);
        if (expression.operator === '++' || expression.operator === '--') {
          forget(expression.operand, cell);
          return undefined;
        }
        if (operand === undefined) return undefined;
        return expression.operator === '-' ? -operand : expression.operator === '+' ? operand : undefined;
      }
      case 'ArithmeticTernary':
        value(expression.test, cell);
        value(expression.consequent, cell);
        value(expression.alternate, cell);
        return undefined;
      case 'ArithmeticGroup':
        return value(expression.expression, cell);
      case 'ArithmeticCommandExpansion':
        host.substitute(expression, cell);
        return undefined;
      case 'ArithmeticWord': {
        // Embedded expansions are ordinary parts of a word; the word is rebuilt from them.
        if (expression.parts === undefined) return number(expression.value, cell);
        const { value: text, pos, end, parts } = expression;
        const numbers = host
          .expander()
          .texts({ type: 'Word', text, value: text, pos, end, parts }, cell)
          .map((each) => number(each, cell));
        return numbers.length === 1 ? numbers[0] : undefined;
      }
    }
  }

  function assign(expression: Extract<ArithmeticExpression, { type: 'ArithmeticBinary' }>, cell: Cell): number | undefined {
    const right = value(expression.right, cell);
    const { left } = expression;
    if (left.type !== 'ArithmeticWord' || !/^[A-Za-z_]\w*$/.test(left.value)) {
      value(left, cell);
      return undefined;
    }
    const result = expression.operator === '=' ? right : undefined;
    host.expander().set(left.value, [result === undefined ? SOME : String(result)], cell);
    return result;
  }

  function forget(expression: ArithmeticExpression, cell: Cell): void {
    if (expression.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(expression.value))
      host.expander().set(expression.value, [SOME], cell);
  }

  /** bash evaluates the text of a variable again: a subscript in it may hold a substitution. */
  function number(text: Text, cell: Cell): number | undefined {
    const plain = text.replaceAll('\\\n', '').trim();
    if (DECIMAL.test(plain)) return Number(plain);
    if (/^[A-Za-z_]\w*$/.test(plain)) {
      const all = held(cell.state, plain).values;
      for (const one of all) host.expander().lurking(one, cell);
      const only = all.length === 1 ? all[0] : undefined;
      return only !== undefined && DECIMAL.test(only) ? Number(only) : undefined;
    }
    host.expander().lurking(text, cell);
    return undefined;
  }

  return {
    evaluate: (expression, cell) => {
      const result = value(expression, cell);
      return result === undefined ? SOME : String(result);
    },
    number,
  };
}

function binary(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return Number.isSafeInteger(left * right) ? left * right : undefined;
    case '/':
      return right === 0 ? undefined : Math.trunc(left / right);
    case '%':
      return right === 0 ? undefined : left % right;
    case ',':
      return right;
    default:
      return undefined;
  }
}
