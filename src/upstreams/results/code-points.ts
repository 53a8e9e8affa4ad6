/** Characters as people count them for a limit: code points, so that a pair of surrogates is one. */
export function countCodePoints(text: string): number {
  let count = text.length;
  // Most texts have none, and a search is many times quicker than a loop.
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return count;
  for (let at = 0; at < text.length - 1; at++) {
    if (isPair(text, at)) {
      count--;
      at++;
    }
  }
  return count;
}

/** The first `most` code points. */
export function firstCodePoints(text: string, most: number): string {
  if (text.length <= most) return text;
  let at = 0;
  for (let count = 0; count < most && at < text.length; count++) at += isPair(text, at) ? 2 : 1;
  return text.slice(0, at);
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
