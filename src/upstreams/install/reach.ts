import type { InstallerRun } from './types.ts';

/** Where these come from when nobody says another place. */
const USUAL = { npm: ['registry.npmjs.org'], pypi: ['pypi.org', 'files.pythonhosted.org'] } as const;

/** What an installer reaches: the registries that are named, and those that everybody has. All were chosen by a person: some mirror them inside. */
export function reachOf(preset: keyof typeof USUAL, registries: readonly string[]): InstallerRun['network'] {
  const urls = registries.flatMap((text) => URL.parse(text) ?? []);
  // A sandbox has a loopback of its own.
  if (urls.some(({ hostname }) => hostname === 'localhost' || /^127\.|^\[::1\]$/.test(hostname))) return 'full';
  const hosts = urls.map(({ host }) => host);
  return { hosts, presets: [preset], own: [...new Set([...hosts, ...USUAL[preset]])] };
}
