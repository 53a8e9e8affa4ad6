import { HOLE, isKnown, isUnknown, type Text } from '../text.ts';
import type { GitVerb } from './git-verb.ts';
import { optionTable, readWords } from './options.ts';
import type { Call } from './program.ts';

/** Keys of `git config` that name nothing that runs: the rest can start a program or change what is fetched. */
export const SAFE_KEY =
  /^(user\.(name|email|signingkey)|author\.(name|email)|committer\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags)|rebase\.(autosquash|autostash|updaterefs)|merge\.(ff|conflictstyle)|rerere\.enabled|diff\.(algorithm|renames|colormoved)|commit\.(verbose|gpgsign)|tag\.gpgsign|branch\..*\.(remote|merge|rebase|description)|branch\.(autosetuprebase|autosetupmerge|sort)|core\.(autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|precomposeunicode|longpaths|symlinks|bare|logallrefupdates|repositoryformatversion|whitespace|abbrev|sparsecheckout|sparsecheckoutcone)|color\..*|column\..*|advice\..*|status\..*|log\..*|gui\..*|gc\.(auto|autodetach)|feature\..*|help\.autocorrect|safe\.directory|blame\..*|grep\..*|remote\..*\.(fetch|tagopt|prune)|submodule\..*\.(active|branch|ignore)|submodule\.recurse|lfs\.(locksverify|activitytimeout)|index\..*|pack\..*|http\.postbuffer)$/i;

export function oneSetting(call: Call, setting: Text): void {
  const equals = setting.indexOf('=');
  const key = equals < 0 ? setting : setting.slice(0, equals);
  const value = equals < 0 ? '' : setting.slice(equals + 1);
  if (isUnknown(key)) call.report('unknown', 'sets a git option that cannot be known from the text');
  else if (isHarmless(key, value)) return;
  else if (/^(http|https|remote|url|credential|core\.gitproxy|proxy)\b/i.test(key) && !/helper|command|proxy|pack|\.vcs$/i.test(key))
    call.report('code_execution', `sets ${key}, which changes what git talks to`);
  else runsSetting(call, key, value);
}

const OFF = /^(|false|true|cat|0|1|no|off|never|input|auto|always|\d+)$/;

const isHarmless = (key: string, value: Text): boolean =>
  SAFE_KEY.test(key) ||
  (OFF.test(value) &&
    /^(core\.(fsmonitor|pager|editor|askpass|hookspath|sshcommand)|pager\..*|diff\.external|protocol\..*|commit\.gpgsign|interactive\..*|sequence\.editor)$/i.test(
      key,
    ) &&
    (value === '' || /^(false|cat|true|0|off|never)$/.test(value)));

function runsSetting(call: Call, key: string, value: Text): void {
  call.report('code_execution', `sets ${key}, which can start a program`);
  // What it reads is what a person has to open for it.
  const stored = /helper$/i.test(key) ? /^store(?:\s+--file[\s=]\s*(\S+))?\s*$/.exec(value) : null;
  if (stored !== null) {
    call.shell(`cat ${stored[1] ?? '~/.git-credentials'}`);
    return;
  }
  const text = value.replace(/^!/, '');
  const names =
    /(pager|editor|command|fsmonitor|external|textconv|clean|smudge|process|cmd|helper|driver|program|askpass|alias\.|proxy|uploadpack|receivepack)/i.test(
      key,
    );
  if (/^alias\./i.test(key) && value !== '' && !value.startsWith('!')) call.shell(`git ${value}`, { lenient: true });
  if (names && value !== '' && (!/^alias\./i.test(key) || value.startsWith('!'))) call.runsText(text, `${key} starts a program`);
}

export const CONFIG = optionTable(
  'f=r file=r blob=- type=- t=- default=- url=- comment=- value=- global system local worktree get get-all get-regexp get-urlmatch list l unset unset-all add replace-all rename-section remove-section e edit all regexp show-origin show-scope name-only null z bool int path includes no-includes fixed-value',
);

/** `git config`. */
export const config: GitVerb = (call, _words, args) => {
  const words = readWords(args, CONFIG);
  const operands = [...words.operands];
  const verb =
    ['get', 'list', 'set', 'unset', 'edit', 'rename-section', 'remove-section', 'get-color', 'get-colorbool'].includes(operands[0] ?? '') &&
    operands[0] !== undefined
      ? operands.shift()
      : undefined;
  const shows =
    verb === 'get' ||
    verb === 'list' ||
    words.has('get', 'get-all', 'get-regexp', 'get-urlmatch', 'list', 'l') ||
    (verb === undefined &&
      operands.length === 1 &&
      !words.has('unset', 'unset-all', 'e', 'edit', 'remove-section', 'rename-section', 'add'));
  const outside = words.has('global', 'system') || (words.value('f', 'file') !== undefined && !shows);
  const own = words.has('global') ? call.own('.gitconfig') : [];
  if (shows) {
    const key = operands[0] ?? '';
    if (/extraheader|password|token|credential/i.test(key)) call.report('credential_access', 'shows a setting that may hold a secret');
    return;
  }
  if (verb === 'edit' || words.has('e', 'edit')) {
    persists(call, 'edits the configuration of git', own);
    return;
  }
  const [key = HOLE, value] = operands;
  const removes = verb === 'unset' || words.has('unset', 'unset-all', 'remove-section');
  if (!outside && removes && isKnown(key)) {
    call.report('local_write', 'changes the configuration of the repository');
    return;
  }
  if (!outside && SAFE_KEY.test(key) && isKnown(key)) {
    call.report('local_write', 'changes the configuration of the repository');
    return;
  }
  const repository = call.cwd.length === 1 ? [`${call.cwd[0]}/.git/config`] : [];
  const which = isKnown(key) ? key : 'an unknown key';
  persists(call, `sets ${which} in the configuration of git, which can name programs`, outside ? own : repository);
  if (value?.startsWith('!')) call.shell(value.slice(1));
};

function persists(call: Call, reason: string, files: readonly Text[]): void {
  const known = files.filter(isKnown);
  if (known.length === 0) call.report('persistence', reason);
  for (const path of known) call.report('persistence', reason, { opens: { type: 'path', path, access: 'write' } });
}
