import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/**
 * Lines where a regular expression stands as an expected value inside `toMatchObject`. Vitest takes it for an object without members of
 * its own there, so any value whatever matches: `expect.stringMatching(...)` is what was meant.
 */
function regexpsInMatchObject(text: string): number[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  const lines: number[] = [];
  const inValue = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) lines.push(source.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    // What a call makes of it is another matter: stringMatching, replace, test.
    else if (!ts.isCallExpression(node)) ts.forEachChild(node, inValue);
  };
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'toMatchObject') {
      node.arguments.forEach(inValue);
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return lines;
}

test('a planted one is seen, wherever it hides, and what is meant is not', () => {
  const planted = `
    expect(a).toMatchObject({ b: /x/ });
    await expect(a).rejects.toMatchObject([{ c: { d: [1, /x/i] } }]);
    expect(a).toMatchObject(cond ? { b: 1 } : { b: /x/ });
    expect(a).toMatchObject({ b: expect.stringMatching(/x/), c: text.replace(/x/, ''), ...f(/x/) });
    expect(a).toEqual({ b: /x/ });
  `;
  expect(regexpsInMatchObject(planted)).toEqual([2, 3, 4]);
});

test('there is none in the house', () => {
  const files = globSync(['{src,test,bench}/**/*.ts'], { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    const text = readFileSync(resolve(root, file), 'utf8');
    return text.includes('toMatchObject') ? regexpsInMatchObject(text).map((line) => `${file}:${line}`) : [];
  });
  expect(found).toEqual([]);
});
