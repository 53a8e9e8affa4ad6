/**
 * Where `needle` begins in `haystack`, overlapping places included, at most `limit` of them. Linear whatever the contents are (Knuth,
 * Morris, Pratt): both come from an agent, and indexOf is quadratic on repetitive text. Works on bytes and on numbered lines.
 */
export function findAll(haystack: ArrayLike<number>, needle: ArrayLike<number>, limit: number): readonly number[] {
  if (needle.length === 0 || needle.length > haystack.length) return [];
  const back = fallbacks(needle);
  const found: number[] = [];
  let matched = 0;
  for (let at = 0; at < haystack.length; at++) {
    while (matched > 0 && haystack[at] !== needle[matched]) matched = back[matched - 1] ?? 0;
    if (haystack[at] === needle[matched]) matched++;
    if (matched < needle.length) continue;
    found.push(at - needle.length + 1);
    if (found.length >= limit) return found;
    matched = back[matched - 1] ?? 0;
  }
  return found;
}

/** For each place of the needle: how much of its beginning ends there. */
function fallbacks(needle: ArrayLike<number>): Int32Array {
  const back = new Int32Array(needle.length);
  let matched = 0;
  for (let at = 1; at < needle.length; at++) {
    while (matched > 0 && needle[at] !== needle[matched]) matched = back[matched - 1] ?? 0;
    if (needle[at] === needle[matched]) matched++;
    back[at] = matched;
  }
  return back;
}
