import type { ConfigNote } from '../../kernel/config/index.ts';
import type { ServerEntry } from '../../kernel/config/server-entry.ts';
import type { Note } from './note.ts';

/**
 * What the file of a project may not say, since nobody would see it when they approve the server, or since it opens the machine. It
 * is taken out with a warning, as with any setting of a project that would loosen. What a person is shown before its first start
 * (program, arguments, variables, limits, roots in the project, hosts) it may choose.
 */
export const LOOSENS: readonly { readonly key: keyof ServerEntry & string; loosens(entry: ServerEntry): boolean; readonly why: string }[] =
  [
    {
      key: 'require_approval',
      loosens: ({ require_approval }) => require_approval === false,
      why: "each tool of a project's server needs a yes",
    },
    {
      key: 'trust_annotations',
      loosens: ({ trust_annotations }) => trust_annotations === true,
      why: 'what its server says of itself is not believed',
    },
    { key: 'low_impact', loosens: ({ low_impact }) => low_impact === true, why: 'a project can not vouch for its own server' },
    { key: 'prefix', loosens: ({ prefix }) => prefix === '', why: 'its tools must be told from those of others' },
    { key: 'network', loosens: ({ network }) => network === 'full', why: 'it has to name the hosts' },
    { key: 'unix_sockets', loosens: ({ unix_sockets = [] }) => unix_sockets.length > 0, why: 'a socket of the machine may lead anywhere' },
    { key: 'nested_userns', loosens: ({ nested_userns }) => nested_userns === true, why: 'it makes the sandbox weaker' },
    {
      key: 'oauth',
      loosens: ({ oauth }) =>
        oauth !== undefined && oauth !== false && Object.keys(oauth).some((key) => key !== 'scopes' && key !== 'client_id'),
      why: 'secrets, files and private addresses of this machine are not for a project',
    },
    {
      key: 'env_secrets',
      loosens: ({ env_secrets = [] }) => env_secrets.length > 0,
      why: 'the secrets of this machine are not for a project',
    },
  ];

export function tightenForProject(entry: ServerEntry, note: Note, warnings: ConfigNote[]): ServerEntry {
  const ignored = LOOSENS.filter(({ loosens }) => loosens(entry));
  for (const { key, why } of ignored) {
    warnings.push(note([key], `is ignored in the file of a project: ${why}`, 'Say it in the operator configuration if you want it.'));
  }
  return Object.fromEntries(Object.entries(entry).filter(([key]) => ignored.every((one) => one.key !== key)));
}
