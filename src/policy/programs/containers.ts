import type { Stream } from '../shell/stream.ts';
import { HOLE, type Text } from '../text.ts';
import { all } from './define.ts';
import { optionTable, readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';
import { type Outcome, verbs } from './verbs.ts';

const SOCKET: { readonly type: 'uncontained'; readonly why: string } = {
  type: 'uncontained',
  why: 'the socket of the container service gives the rights of its owner',
};

/** Options of `docker run|exec` that take a word: what stands behind them is the image and its command. */
const RUN = optionTable(
  'v=- volume=- mount=- e=- env=- env-file=r p=- publish=- name=- w=- workdir=- u=- user=- l=- label=- network=- net=- h=- hostname=- m=- memory=- cpus=- entrypoint=- add-host=- device=- cap-add=- cap-drop=- security-opt=- pid=- ipc=- uts=- userns=- platform=- restart=- shm-size=- tmpfs=- ulimit=- log-driver=- log-opt=- gpus=- c=- cpu-shares=- a=- attach=- expose=- link=- dns=- ip=- runtime=- stop-signal=- detach-keys=- cidfile=w volumes-from=- pull=- health-cmd=- i t d rm it privileged init',
);

const container: Program = (call) => {
  const globals = readWords(
    call.args,
    optionTable('H=n host=n context=- c=- config=r l=- log-level=- tlscacert=r tlscert=r tlskey=r D'),
    true,
  );
  const at = globals.at[0];
  if (at === undefined) return undefined;
  const verb = call.args[at] ?? '';
  const rest = call.args.slice(at + 1);
  if (verb === 'version' || verb === 'help') {
    if (verb === 'help') return undefined;
  }
  call.report('system_write', `${call.name} needs the container service of the host, which containment hides`, { opens: SOCKET });
  const [first = ''] = rest.filter((arg) => !arg.startsWith('-'));
  const management =
    /^(container|image|volume|network|system|builder|compose|context|plugin|swarm|service|stack|node|secret|config|manifest|trust|buildx|machine|pod|kube)$/.test(
      verb,
    );
  const action = management ? first : verb;
  if (/^(run|exec|create)$/.test(action)) {
    const from = rest.indexOf(action);
    const args = management ? rest.slice(from + 1) : rest;
    const words = readWords(args, RUN, true);
    for (const { name, value = '', role } of words.options) {
      if (role === 'r') call.read(value);
      else if (role === 'w') call.write(value);
      else if (name === 'entrypoint' && value !== '') call.shell(value, { remote: true });
    }
    const command = verb === 'compose' || words.operands.length > 1 ? words.operands.slice(1) : [];
    if (command.length > 0) call.shell(command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '), { remote: true });
  }
  if (
    /^(prune)$/.test(action) ||
    (verb === 'compose' && /^(down|rm)$/.test(action) && rest.some((arg) => /^(-v|--volumes)$/.test(arg))) ||
    (verb === 'volume' && /^(rm|remove)$/.test(action)) ||
    (/^(rm|rmi)$/.test(verb) && rest.some((arg) => /^-\w*f|^--force|^-\w*v/.test(arg))) ||
    (verb === 'image' && action === 'rm') ||
    (verb === 'stack' && action === 'rm')
  ) {
    call.report('destructive', 'removes containers, images or volumes with their data');
  }
  if (/^(build|push|pull|login|search)$/.test(action) || verb === 'buildx')
    call.network(`${call.name} ${action} reaches other hosts`, [], ['docker']);
  if (/^(login|logout)$/.test(action)) call.report('credential_access', 'stores or removes credentials of a registry');
  if (/^(build|compose)$/.test(verb)) call.report('code_execution', 'runs the build or services of the project');
  if (action === 'cp') {
    const [, target = HOLE] = rest.filter((arg) => !arg.startsWith('-') && arg !== 'cp').slice(0, 2);
    if (!target.includes(':')) call.write(target);
  }
  if (/^(save|export)$/.test(action)) {
    const out = readWords(rest, optionTable('o=w output=w')).value('o', 'output');
    if (out !== undefined) call.write(out);
  }
  return undefined;
};

const KUBE = optionTable(
  'n=- namespace=- context=- cluster=- kubeconfig=r f=r filename=r k=r kustomize=r o=- output=- l=- selector=- c=- container=- t=- token=- as=- user=- server=n s=n p=- patch=- type=- field-selector=- sort-by=- timeout=- grace-period=- image=- dry-run?- from-literal=- from-file=r from-env-file=r port=- replicas=- v=- since=- tail=- it i stdin tty all force A',
);

const kubectl: Program = (call) => {
  const words = readWords(call.args, KUBE, false);
  const dashes = call.args.indexOf('--');
  const [verb = '', noun = ''] = words.operands;
  if (verb === '' || verb === 'completion' || verb === 'help' || verb === 'kustomize') return undefined;
  if (verb === 'version' && words.has('client')) return undefined;
  if (verb === 'config') {
    if (/^(view)$/.test(noun)) call.report('credential_access', 'may show credentials of clusters');
    else if (!/^(current-context|get-contexts|get-clusters|get-users)$/.test(noun))
      call.report('persistence', 'changes which clusters are used and how');
    return undefined;
  }
  for (const { role, value } of words.options) if (role === 'r' && value !== undefined && value !== '-') call.read(value);
  call.network(`${call.name} talks to a cluster`, [], ['kubernetes']);
  if (!words.has('kubeconfig')) call.needs('.kube/config');
  const server = words.value('server', 's');
  if (server !== undefined) call.network(`${call.name} talks to a cluster`, [server]);
  if (/^(delete|drain|destroy|uninstall|rollback)$/.test(verb) && !words.has('dry-run'))
    call.report('destructive', 'removes something from a cluster');
  if (verb === 'replace' && words.has('force')) call.report('destructive', 'removes and makes again something in a cluster');
  if (verb === 'scale' && words.operands.length > 0 && /--replicas[= ]0/.test(call.args.join(' ')))
    call.report('destructive', 'stops all of something in a cluster');
  if (
    /^secrets?(\/|,|$)/.test(noun) ||
    words.operands.some((word) => /^secrets?(\/|$)/.test(word)) ||
    (verb === 'create' && noun === 'token')
  )
    call.report('credential_access', 'shows or changes secrets of a cluster');
  if (/^(exec|debug|run)$/.test(verb)) {
    const command = dashes >= 0 ? call.args.slice(dashes + 1) : [];
    if (command.length > 0) call.shell(command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '), { remote: true });
  }
  if (verb === 'cp') for (const word of words.operands.slice(1)) if (!word.includes(':')) call.write(word);
  const from: Stream = { origin: 'network' };
  return from;
};

/** Which cluster that is stands in the person's configuration. */
const reachesCluster = (call: Call, _verb: string, words: Words, outcomes: readonly Outcome[]): undefined => {
  if (outcomes.includes('net') && !words.has('kubeconfig') && !call.args.some((arg) => arg.startsWith('--kubeconfig')))
    call.needs('.kube/config');
  return undefined;
};

const helm = verbs({
  globals: 'n=- namespace=- kube-context=- kubeconfig=r debug',
  options: 'f=r values=r set=- version=- post-renderer=p output-dir=w d=w destination=w',
  table: `
    template|lint|version|help|env|completion|create|package|dependency list : code
    install|upgrade|list|ls|status|get|history|test|search|pull|push|repo|registry|dependency|show|fetch : net
    uninstall|delete|del|rollback : net destroy
    plugin : install
    * : unknown
  `,
  presets: ['kubernetes'],
  also: reachesCluster,
});

export const CONTAINERS: readonly (readonly [string, Program])[] = [
  ...all('docker podman nerdctl', container),
  ...all('docker-compose podman-compose', (call: Call) => {
    const words: readonly Text[] = call.args;
    call.report('system_write', `${call.name} needs the container service of the host, which containment hides`, { opens: SOCKET });
    call.report('code_execution', 'runs the services of the project');
    if (/^(down|rm)$/.test(words.find((arg) => !arg.startsWith('-')) ?? '') && words.some((arg) => /^(-v|--volumes|-\w*f\w*)$/.test(arg)))
      call.report('destructive', 'removes containers with their data');
    return undefined;
  }),
  ...all('buildah skopeo crictl ctr kaniko img', verbs({ table: '* : host net', presets: ['docker'] })),
  ...all('kubectl oc k kubecolor', kubectl),
  ['helm', helm],
  ...all(
    'kustomize',
    verbs({ options: 'o=w output=w', table: 'build|cfg|version|help|localize : code\n edit|create : write\n * : unknown' }),
  ),
  ...all(
    'minikube kind k3d k3s colima lima limactl vagrant multipass machinectl lxc incus virsh qemu-system-x86_64',
    verbs({ table: 'status|version|help|list|ls|get|profile|info : host\n delete|destroy|undefine|purge : host destroy\n * : host' }),
  ),
  ...all(
    'skaffold tilt werf telepresence stern k9s argocd flux istioctl linkerd kubectx kubens velero',
    verbs({
      table: 'version|help|completion : safe\n delete|uninstall : net destroy\n * : net',
      presets: ['kubernetes'],
      also: reachesCluster,
    }),
  ),
];
