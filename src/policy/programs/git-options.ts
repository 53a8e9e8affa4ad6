import { type OptionTable, optionTable } from './options.ts';

export const GLOBALS = optionTable(
  'C=r c=- config-env=- exec-path?- git-dir=- work-tree=- namespace=- super-prefix=- list-cmds=- attr-source=- p P paginate no-pager bare no-replace-objects literal-pathspecs no-optional-locks html-path man-path info-path version help',
);

/** Options of verbs whose role matters; all others are flags or data. */
export const OPTIONS: OptionTable = optionTable(
  'output=w O?- open-files-in-pager?- x=- exec=- extcmd=- upload-pack=- receive-pack=- u=- c=- config=- template=- L=- G=- S=- n=- m=- message=- F=r file=r t=- author=- date=- C?- reuse-message=- format=- pretty?- since=- until=- after=- before=- grep=- max-count=- skip=- sort=- contains?- merged?- no-merged?- points-at=- b B D M f source=- s=- strategy=- X=- strategy-option=- onto=- depth=- branch=- o=- origin=- reference=r separate-git-dir=w directory=- remote=- exec=- prefix=- e=- abbrev?- unified=- U=- word-diff?- diff-filter=- stat?- color?- set-upstream-to=- pathspec-from-file=r whitespace=- p=- cleanup=- trailer=- fixup=- squash=- i=- inter-hunk-context=- bundle-uri=- filter=- shallow-since=- server-option=- jobs=- j=- recurse-submodules?- output-directory=w object-format=- initial-branch=- ref-format=- reflog',
);

/** What shows commits and differences has flags where others take a word. */
const SHOWS =
  'output=w O=r order-file=r G=- S=- L=- n=- l=- U=- unified=- max-count=- skip=- since=- until=- after=- before=- grep=- author=- committer=- format=- pretty?- date=- diff-filter=- word-diff?- word-diff-regex=- stat?- color?- submodule?- ignore-submodules?- anchored=- inter-hunk-context=- src-prefix=- dst-prefix=- line-prefix=- find-object=- decorate-refs=- glob=- branches?- tags?- remotes?- exclude=- p u c m s z a w b R g i r t M? B? C? D no-index ext-diff textconv name-only cached staged';

/** Where one letter means something else. */
export const OVERRIDES: ReadonlyMap<string, OptionTable> = new Map(
  [
    ...['log', 'show', 'diff', 'whatchanged'].map((verb) => [verb, SHOWS] as const),
    ['cat-file', 'p t s e z textconv filters path=- batch?- batch-check?- filter=-'],
    ['gc', 'prune?- q aggressive auto force keep-largest-pack'],
    ['push', 'receive-pack=- exec=- o=- push-option=- repo=- u f d force-with-lease?- recurse-submodules?- signed?-'],
    [
      'branch',
      'u=- set-upstream-to=- contains?- merged?- no-merged?- points-at=- sort=- format=- color?- abbrev?- column?- f t?- D d M m C c r a v l',
    ],
    ['status', 'u?- untracked-files?- ignored?- porcelain?- s b z column?- find-renames?-'],
    ['checkout', 'b=- B=- orphan=- conflict=- t?- f m p q l pathspec-from-file=r'],
    ['switch', 'c=- C=- create=- force-create=- orphan=- conflict=- t?- f m q d'],
    ['restore', 's=- source=- S W p q m conflict=- pathspec-from-file=r'],
    ['reset', 'q p N pathspec-from-file=r hard soft mixed merge keep U=-'],
    ['clean', 'e=- exclude=- f d x X n q i'],
    ['add', 'A u p i e n v f N chmod=- pathspec-from-file=r'],
    [
      'commit',
      'm=- message=- F=r file=r C=- c=- reuse-message=- reedit-message=- fixup=- squash=- author=- date=- t=r template=r cleanup=- S?- gpg-sign?- trailer=- u?- untracked-files?- pathspec-from-file=r a v q n s e p i o z',
    ],
    [
      'tag',
      'm=- message=- F=r file=r u=- local-user=- sort=- format=- contains?- no-contains?- merged?- no-merged?- points-at=- cleanup=- n?- a s f d v l color?- column?-',
    ],
    [
      'rebase',
      'x=- exec=- onto=- s=- strategy=- X=- strategy-option=- S?- gpg-sign?- C=- whitespace=- empty=- rebase-merges?- r?- autosquash i q v f keep-base m',
    ],
    ['merge', 'm=- F=r file=r s=- strategy=- X=- strategy-option=- S?- gpg-sign?- cleanup=- into-name=- log?- n e q v'],
    [
      'clone',
      'b=- branch=- o=- origin=- u=- upload-pack=- c=- config=- template=- reference=r reference-if-able=r separate-git-dir=w depth=- shallow-since=- shallow-exclude=- j=- jobs=- server-option=- filter=- recurse-submodules?- bundle-uri=- ref-format=- l n q v s',
    ],
    [
      'fetch',
      'upload-pack=- depth=- deepen=- shallow-since=- shallow-exclude=- refmap=- o=- server-option=- j=- jobs=- negotiation-tip=- filter=- recurse-submodules?- u f p t n k q v a 4 6',
    ],
    [
      'pull',
      'upload-pack=- depth=- deepen=- s=- strategy=- X=- strategy-option=- r?- rebase?- S?- gpg-sign?- o=- j=- jobs=- cleanup=- f p t n k q v a',
    ],
    ['stash', 'm=- message=- p k u a q S index pathspec-from-file=r'],
    ['rm', 'r f n q cached pathspec-from-file=r'],
    [
      'apply',
      'p=- C=- directory=- exclude=- include=- whitespace=- build-fake-ancestor=w R z v 3 check stat numstat summary apply cached index unsafe-paths reject',
    ],
    ['grep', 'O?- open-files-in-pager?- e=- f=r A=- B=- C=- m=- max-depth=- max-count=- threads=- color?- context=- i l n w v c'],
    ['worktree', 'b=- B=- reason=- expire=- f d q v n orphan lock detach'],
    ['remote', 't=- m=- mirror?- f v push add delete all'],
    ['submodule', 'b=- branch=- name=- reference=r depth=- j=- jobs=- filter=- q f init recursive remote'],
  ].map(([name = '', text = '']) => [name, optionTable(text)] as const),
);
