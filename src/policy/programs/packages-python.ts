import { optionTable, readWords } from './options.ts';
import { verbs } from './verbs.ts';

const UV_TABLE = `
  : safe
  run|build|venv|python find|version|tree : code
  sync|add|lock|pip install|pip sync|pip compile|tool install|tool run|tool upgrade|python install|self update|remove : install
  init|pip uninstall|cache clean|cache prune|tool uninstall|python pin : write
  pip list|pip show|pip freeze|pip tree|pip check|python list|python dir|tool list|tool dir|cache dir|export|help : safe
  publish : upload
  auth : secret
  * : unknown
`;

export const uv = verbs({
  globals: 'directory=r project=r config-file=r cache-dir=w color=-',
  options: 'with=- python=- p=- with-requirements=r env-file=r index-url=n extra-index-url=n target=w prefix=w',
  table: UV_TABLE,
  presets: ['pypi'],
  also: (call, verb, words) => {
    if (verb !== 'run') return undefined;
    if (words.has('with', 'with-requirements'))
      call.report('install', 'downloads packages for the run', { opens: { type: 'hosts', hosts: [], presets: ['pypi'] } });
    const from = call.args.indexOf('run') + 1;
    const inside = readWords(
      call.args.slice(from),
      optionTable(
        'with=- python=- p=- with-requirements=r env-file=r package=- extra=- group=- index-url=n m module=- s script no-sync frozen locked isolated',
      ),
      true,
    );
    const at = inside.at[0];
    if (at === undefined) return undefined;
    const first = inside.operands[0] ?? '';
    if (/\.py$/.test(first)) call.runsFile(first, 'runs a program file');
    else if (!inside.has('m', 'module')) call.inner(from + at);
    return undefined;
  },
});

export const pip = verbs({
  globals: 'python=p proxy=n cache-dir=w log=w cert=r client-cert=r',
  options:
    'r=r requirement=r c=r constraint=r t=w target=w prefix=w root=w i=n index-url=n extra-index-url=n f=- find-links=- d=w dest=w w=w wheel-dir=w e=- editable=- src=w log=w report=w python=p',
  table: `
    install|download|wheel : install
    uninstall : write
    list|show|freeze|check|inspect|debug|help|cache dir|cache info|cache list|config list|config get|hash|completion : safe
    search|index : net
    cache purge|cache remove : write
    config set|config edit|config unset : persist
    * : unknown
  `,
  presets: ['pypi'],
  also: (call, verb, words) => {
    // Even without the network a package of the project runs its own set-up.
    if (verb === 'install' && words.has('user', 't', 'target', 'prefix', 'root', 'break-system-packages'))
      call.report('system_write', 'installs outside the project');
    return undefined;
  },
});
