/** Where a person is asked, in words: `writ up` has a page that a link opens, a `writ mcp` by itself has terminals only. */

export function howToBeAsked(has_page: boolean): string {
  return has_page
    ? 'To be asked, run `writ link` in a terminal of your own and open the page, or keep `writ approvals watch` open there; then let the agent try again.'
    : 'To be asked, keep `writ approvals watch` open in a terminal of your own, or run `writ up` and open its page; then let the agent try again.';
}

export function howToAnswer(id: string, has_page: boolean): string {
  const page = has_page ? 'on the page (`writ link` opens it)' : 'on the page of `writ up`';
  return `Answer with \`writ approvals approve ${id}\` (or deny) in a terminal of your own, in \`writ approvals watch\`, or ${page}.`;
}
