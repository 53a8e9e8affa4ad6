import { HOLE, isUnknown, type Text } from '../text.ts';
import { FROM_NETWORK } from './http.ts';
import { optionTable, readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';

const SSH = optionTable(
  'p=- i=r l=- o=- F=r J=n L=- R=- D=- W=n b=- c=- e=- E=w m=- O=- Q=- S=- w=- I=r B=- P=- 4 6 A a C f G g K k M N n q s T t V v X x Y y',
);

/** `-o ProxyCommand=...` and its kin start programs here. */
function sshOption(call: Call, value: Text): void {
  const match =
    /^\s*(ProxyCommand|LocalCommand|KnownHostsCommand|PKCS11Provider|SecurityKeyProvider|Match|XAuthLocation|ProxyUseFdpass|Include)\s*[= ]\s*"?(.*?)"?$/is.exec(
      value,
    );
  if (match !== null && match[2] !== 'none') call.runsText(match[2] ?? HOLE, `ssh starts a program (${match[1]})`);
  else if (isUnknown(value)) call.report('unknown', 'an option of ssh cannot be known from the text');
}

const sshOptions = (call: Call, words: Words): void => {
  for (const { name, value = '', role } of words.options) {
    if (name === 'o') sshOption(call, value);
    else if (role === 'r' && name !== 'I') call.read(value);
    else if (name === 'I') call.runsText(value, 'ssh loads a library');
    else if (role === 'w') call.write(value);
    else if (name === 'S' && call.name !== 'ssh') call.runsText(value, `${call.name} starts another program to connect`);
    else if (name === 'D' && call.name === 'sftp') call.runsText(value, 'sftp starts a server program');
  }
};

export const ssh: Program = (call) => {
  const words = readWords(call.args, SSH, true);
  sshOptions(call, words);
  if (words.has('V', 'G', 'Q')) return undefined;
  const [host, ...rest] = words.operands;
  // A host that is no host but an option in disguise.
  call.network('ssh runs on another host', host === undefined ? [] : [host]);
  // ssh joins its words with spaces and gives them to the shell over there.
  if (rest.length > 0) call.shell(rest.join(' '), { remote: true });
  else if (call.stdin.text !== undefined) call.shell(call.stdin.text, { remote: true });
  return FROM_NETWORK;
};

const isRemote = (word: Text): boolean => /^(?:[^/@\s]+@)?[^/:]+:/.test(word) || /^(scp|sftp|rsync):\/\//.test(word);

export const SCP = optionTable('P=- i=r o=- F=r J=n c=- l=- S=- D=p X=- 3 4 6 A B C O p q R r s T v');

export const copies =
  (table: ReturnType<typeof optionTable>): Program =>
  (call) => {
    const words = readWords(call.args, table);
    sshOptions(call, words);
    const remote = words.operands.filter(isRemote);
    const target = words.operands.at(-1);
    for (const word of words.operands.slice(0, -1)) if (!isRemote(word)) call.read(word);
    if (target !== undefined && !isRemote(target)) call.write(target, remote.length > 0 ? FROM_NETWORK : undefined);
    // sftp connects to its first word, whatever it looks like.
    if (call.name === 'sftp' && remote.length === 0 && target !== undefined) call.network('sftp copies between hosts', [target]);
    if (remote.length > 0 || words.operands.length === 0) call.network(`${call.name} copies between hosts`, remote);
    return undefined;
  };

const RSYNC = optionTable(
  'e=p rsh=p rsync-path=- f=- filter=- include=- exclude=- include-from=r exclude-from=r files-from=r T=w temp-dir=w backup-dir=w suffix=- log-file=w password-file=r partial-dir=w compare-dest=r copy-dest=r link-dest=r bwlimit=- timeout=- contimeout=- port=- sockopts=- B=- block-size=- max-size=- min-size=- chmod=- chown=- usermap=- groupmap=- out-format=- write-batch=w only-write-batch=w read-batch=r info=- debug=- modify-window=- max-delete=- iconv=- address=- M=- remote-option=- delete del delete-before delete-after delete-during delete-delay delete-excluded delete-missing-args remove-source-files early-input=r daemon',
);

export const rsync: Program = (call) => {
  const words = readWords(call.args, RSYNC);
  for (const { value = '', role } of words.options) {
    if (role === 'p' && !/^ssh(\s+-(p|i|l|F)\s*\S+|\s+-[qvC46ATx]+)*$/.test(value))
      call.runsText(value, 'rsync starts a program to connect');
    else if (role === 'p' && /-i\s*(\S+)/.test(value)) call.read(/-i\s*(\S+)/.exec(value)?.[1] ?? HOLE);
    else if (role === 'r') call.read(value);
    else if (role === 'w') call.write(value);
  }
  const there = words.operands.filter(isRemote);
  const target = words.operands.at(-1);
  const path = words.value('rsync-path');
  if (path !== undefined) call.shell(path, { remote: true });
  for (const word of words.operands.slice(0, -1)) {
    if (isRemote(word)) continue;
    call.read(word);
    if (words.has('remove-source-files')) call.remove(word, true);
  }
  const deletes = words.options.some((option) => /^del(ete(-\w+)*)?$/.test(option.name));
  if (target !== undefined && words.operands.length > 1) {
    if (!isRemote(target)) {
      call.write(target, there.length > 0 ? FROM_NETWORK : undefined);
      if (deletes && !words.has('n', 'dry-run', 'list-only')) call.remove(target, true);
    } else if (deletes) call.report('destructive', 'removes files on another host');
  }
  if (there.length > 0) call.network('rsync copies between hosts', there);
  return undefined;
};
