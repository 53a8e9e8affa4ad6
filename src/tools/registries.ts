import { dirname, join } from 'node:path';
import type { Assessment, Finding } from '../policy/types.ts';
import { readSmall } from './read-small.ts';

/**
 * Where the tools of a preset are told of other places to download from: the file, the sections of it that count (all, where none is named), and the line
 * that has the address.
 */
interface Source {
  readonly file: string;
  readonly section?: RegExp;
  readonly line: RegExp;
}

const URL_VALUE = /["']?((?:sparse\+|git\+)?https?:\/\/[^\s"',]+)/;
const named = (key: string): RegExp => new RegExp(`^\\s*(?:${key})\\s*[=:\\s]\\s*${URL_VALUE.source}`, 'i');

const SOURCES: Readonly<Record<string, readonly Source[]>> = {
  npm: [
    { file: '.npmrc', line: named('(?:@[^:=\\s]+:)?registry') },
    { file: '.yarnrc', line: named('"?(?:@[^:"\\s]+:)?registry"?') },
    { file: '.yarnrc.yml', line: named('npmRegistryServer') },
    { file: 'bunfig.toml', section: /^install(\.|$)/, line: named('registry|url|"?@[^"=\\s]+"?') },
  ],
  pypi: [
    { file: 'requirements.txt', line: named('-i|--index-url|--extra-index-url|-f|--find-links') },
    { file: 'pyproject.toml', section: /^tool\.(uv|poetry|pdm)\b.*(index|source)/, line: named('url') },
    { file: 'pyproject.toml', section: /^tool\.uv(\.pip)?$/, line: named('index-url|extra-index-url') },
    { file: 'uv.toml', line: named('url|index-url|extra-index-url') },
    { file: 'Pipfile', section: /^source$/, line: named('url') },
  ],
  crates: [
    { file: '.cargo/config.toml', section: /^(registries|source)\./, line: named('index|registry|git') },
    { file: '.cargo/config', section: /^(registries|source)\./, line: named('index|registry|git') },
    { file: 'Cargo.toml', line: /\bgit\s*=\s*["'](https?:\/\/[^\s"']+)/ },
  ],
};

/** More than a card can show at a glance are not opened: then the run says which host it was refused. */
const MAX_HOSTS = 8;
const MAX_FOLDERS = 32;

/**
 * `npm ci` names no host. Where the project tells its tools of registries of its own, a person is shown their hosts beside those that the tools know
 * by themselves, and a yes opens them: without them it would open what isn't asked and nothing would be installed.
 */
export function withRegistries(assessment: Assessment, cwd: string, workspaces: readonly string[]): Assessment {
  const needs = new Set(assessment.findings.flatMap(presetsOf).filter((preset) => Object.hasOwn(SOURCES, preset)));
  if (needs.size === 0) return assessment;
  const folders = foldersAbove(cwd, workspaces);
  const found = new Map([...needs].map((preset) => [preset, hostsFor(SOURCES[preset] ?? [], folders)]));
  const shown = (finding: Finding): Finding => {
    const { opens } = finding;
    if (opens?.type !== 'hosts') return finding;
    const hosts = new Set([...opens.hosts, ...opens.presets.flatMap((preset) => found.get(preset) ?? [])]);
    return hosts.size === opens.hosts.length || hosts.size > MAX_HOSTS ? finding : { ...finding, opens: { ...opens, hosts: [...hosts] } };
  };
  return { ...assessment, findings: assessment.findings.map(shown) };
}

function presetsOf({ opens }: Finding): readonly string[] {
  return opens?.type === 'hosts' ? opens.presets : [];
}

/** Tools look in the folder they work in and in those above; nothing outside of a Workspace counts as the project's. */
function foldersAbove(cwd: string, workspaces: readonly string[]): readonly string[] {
  const folders: string[] = [];
  const inside = (folder: string): boolean => workspaces.some((one) => folder === one || folder.startsWith(`${one}/`));
  for (let folder = cwd; inside(folder) && folders.length < MAX_FOLDERS; folder = dirname(folder)) folders.push(folder);
  return folders;
}

function hostsFor(sources: readonly Source[], folders: readonly string[]): readonly string[] {
  const hosts = new Set<string>();
  for (const folder of folders) {
    for (const { file, section, line } of sources) {
      for (const text of linesOf(readSmall(join(folder, file)) ?? '', section)) {
        const host = hostOf(line.exec(text)?.[1] ?? '');
        if (host !== undefined) hosts.add(host);
      }
    }
  }
  return [...hosts];
}

function linesOf(text: string, section: RegExp | undefined): readonly string[] {
  let counts = section === undefined;
  return text.split('\n').filter((line) => {
    const head = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(#.*)?$/.exec(line)?.[1];
    if (head !== undefined && section !== undefined) counts = section.test(head.replace(/["']/g, ''));
    return counts;
  });
}

/** In the words of the allow-list: with its port where that isn't a usual one. */
export function hostOf(address: string): string | undefined {
  const url = URL.parse(address.replace(/^(sparse|git)\+/, ''));
  if (url === null || url.hostname === '') return undefined;
  return ['', '80', '443', '22'].includes(url.port) ? url.hostname : `${url.hostname}:${url.port}`;
}
