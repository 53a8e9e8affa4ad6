import type { Assessment, Finding } from '../policy/types.ts';
import { readSmall } from './read-small.ts';
import { hostOf } from './registries.ts';

/** The preset of programs that talk to a cluster: which host that is stands in a file of the person's. */
const CLUSTER = 'kubernetes';
const MAX_HOSTS = 8;

/**
 * `kubectl get pods` names no host. The file that it is to read, and that a yes opens for it, says which one: a person is shown that, and
 * a yes opens it. Of the file nothing else is taken.
 */
export function withClusters(assessment: Assessment): Assessment {
  const needs = (finding: Finding): boolean =>
    finding.opens?.type === 'hosts' && finding.opens.hosts.length === 0 && finding.opens.presets.includes(CLUSTER);
  if (!assessment.findings.some(needs)) return assessment;
  const readFor = ({ command }: Finding): readonly string[] =>
    assessment.findings.flatMap(({ opens, command: other }) =>
      opens?.type === 'path' && opens.access === 'read' && other === command ? [opens.path] : [],
    );
  const shown = (finding: Finding): Finding => {
    const { opens, argv } = finding;
    if (opens?.type !== 'hosts' || !needs(finding)) return finding;
    const texts = readFor(finding).flatMap((path) => readSmall(path) ?? []);
    const hosts = [
      ...new Set(
        texts.flatMap((text) => serversOf(text, optionOf(argv, 'context') ?? optionOf(argv, 'kube-context'), optionOf(argv, 'cluster'))),
      ),
    ];
    if (hosts.length === 0 || hosts.length > MAX_HOSTS) return finding;
    return { ...finding, opens: { type: 'hosts', hosts, presets: opens.presets.filter((preset) => preset !== CLUSTER) } };
  };
  return { ...assessment, findings: assessment.findings.map(shown) };
}

function optionOf(argv: readonly string[], name: string): string | undefined {
  const at = argv.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = argv[at];
  return word === undefined ? undefined : word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
}

/**
 * The hosts of a kubeconfig, as kubectl itself writes it: entries of lists, each with a name and scalars of its own. The one of the context in use, where
 * that can be found out, otherwise all.
 */
export function serversOf(text: string, context?: string, cluster?: string): readonly string[] {
  const lists = listsOf(text);
  const used = context ?? scalar(/^current-context:(.*)$/m.exec(text)?.[1]);
  const name = cluster ?? lists.find((entry) => entry.list === 'contexts' && entry.of('name') === used)?.of('cluster');
  const clusters = lists.filter(({ list }) => list === 'clusters');
  const wanted = clusters.filter((entry) => entry.of('name') === name);
  return (wanted.length > 0 ? wanted : clusters).flatMap((entry) => hostOf(entry.of('server') ?? '') ?? []);
}

interface Entry {
  readonly list: string;
  of(key: string): string | undefined;
}

function listsOf(text: string): readonly Entry[] {
  return text.split(/^(?=[A-Za-z])/m).flatMap((block) => {
    const list = /^([A-Za-z-]+):\s*$/m.exec(block)?.[1];
    if (list === undefined) return [];
    return block
      .split(/^\s*-\s/m)
      .slice(1)
      .map(
        (item): Entry => ({
          list,
          of: (key) => scalar(new RegExp(`^\\s*(?:-\\s+)?${key}:[ \\t]+(\\S.*)$`, 'm').exec(item)?.[1]),
        }),
      );
  });
}

function scalar(text: string | undefined): string | undefined {
  const plain = text?.trim().replace(/^(["'])(.*)\1$/, '$2');
  return plain === '' ? undefined : plain;
}
