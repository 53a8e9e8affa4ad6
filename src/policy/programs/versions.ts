import { all } from './define.ts';
import { verbs } from './verbs.ts';

/** Version control beside git: what throws away changes is the same matter for a person. */
export const VERSIONS = [
  ...all(
    'hg',
    verbs({
      globals: 'R=r repository=r cwd=r config=c q v y',
      options: 'r=- rev=- m=- message=- o=w output=w C clean no-backup a all f force n dry-run',
      table: `
        : safe
        status|st|log|diff|id|identify|summary|sum|branches|branch|bookmarks|bookmark|tags|heads|parents|annotate|blame|cat|files|manifest|root|paths|grep|locate|help|version|phase|resolve|config|showconfig|verify|export : safe
        add|addremove|commit|ci|amend|copy|cp|rename|mv|tag|init|shelve|unshelve|graft|import|merge|rebase|histedit|backout|uncommit|absorb|fold|forget|bundle|unbundle : code
        update|up|checkout|co : code
        revert|purge|clean|strip|prune|rollback : lose
        remove|rm : write
        pull|push|clone|incoming|in|outgoing|out|fetch : net
        * : unknown
      `,
      also: (call, verb, words) => {
        if (/^(update|up|checkout|co)$/.test(verb) && words.has('C', 'clean')) call.loses('throws away changes that are not committed');
        return undefined;
      },
    }),
  ),
  ...all(
    'svn',
    verbs({
      options: 'm=- message=- F=r file=r r=- remove-unversioned remove-ignored R recursive',
      table: `
        : safe
        status|st|diff|di|info|log|blame|praise|annotate|ann|cat|list|ls|help|propget|pg|proplist|pl : safe
        add|copy|cp|move|mv|rename|mkdir|propset|ps|propdel|resolve|resolved|cleanup|changelist|cl|upgrade|patch : write
        revert : lose
        delete|del|remove|rm : write
        checkout|co|update|up|switch|sw|commit|ci|import|export|merge|lock|unlock|relocate : net
        * : unknown
      `,
      also: (call, verb, words) => {
        if (verb === 'cleanup' && words.has('remove-unversioned', 'remove-ignored')) call.loses('removes files that svn does not know');
        return undefined;
      },
    }),
  ),
] as const;
