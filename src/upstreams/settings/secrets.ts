import type { ConfigNote } from '../../kernel/config/index.ts';
import { isSecretName } from '../../kernel/redaction/index.ts';
import type { UpstreamSettings, UpstreamTransport } from '../types.ts';
import type { Note } from './note.ts';
import { isDeclared, referencesIn } from './references.ts';
import type { Places } from './roots.ts';

/**
 * Looks at what a transport refers to and passes on. Variables that look like secrets are taken out: of a project's file always, of the
 * operator's where nothing declares them (`env_secrets`, or `${secret:NAME}` as their value, which says as much).
 */
export function checkSecrets(
  transport: UpstreamTransport,
  { source, env_secrets, redactor }: Pick<UpstreamSettings, 'source' | 'env_secrets'> & Pick<Places, 'redactor'>,
  note: Note,
  problems: ConfigNote[],
  warnings: ConfigNote[],
): Pick<UpstreamSettings, 'transport' | 'env_secrets'> {
  const look = (text: string, key: readonly (string | number)[], place: 'env' | 'sent' | 'args'): void => {
    for (const reference of referencesIn(text)) {
      if (reference.kind === 'secret' && source === 'project') {
        problems.push(note(key, `refers to the secret "${reference.name}": the secrets of this machine are not for a project`, OPERATOR));
      } else if (reference.kind === 'variable' && !isDeclared(reference.name, env_secrets)) {
        if (reference.fallback !== undefined)
          warnings.push(
            note(key, `refers to ${reference.name}, which is not declared: the default is used`, declare(reference.name, source)),
          );
        else if (place === 'sent')
          problems.push(note(key, `refers to ${reference.name}, which is not declared`, declare(reference.name, source)));
      }
      if (place === 'args' && reference.kind !== 'foreign') {
        warnings.push(note(key, 'is filled in where everybody on the machine can read it (/proc)', 'Give it to the server in "env".'));
      }
    }
  };
  if (transport.type === 'stdio') {
    for (const [index, arg] of transport.args.entries()) look(arg, ['args', index], 'args');
    for (const index of secretsAmong(transport.args, redactor))
      warnings.push(
        note(
          ['args', index],
          'looks like a secret, and everybody on the machine can read it (/proc)',
          source === 'project' ? OPERATOR : STORE,
        ),
      );
    const env = kept(transport.env, 'env');
    for (const [name, value] of Object.entries(env)) look(value, ['env', name], 'env');
    const declared = Object.keys(env).filter((name) => isSecretName(name) && env[name] !== '');
    return { transport: { ...transport, env }, env_secrets: [...new Set([...env_secrets, ...declared])] };
  }
  const headers = source === 'project' ? kept(transport.headers, 'headers') : transport.headers;
  for (const [name, value] of Object.entries(headers)) look(value, ['headers', name], 'sent');
  look(transport.url, ['url'], 'sent');
  if (transport.oauth && transport.oauth.client_secret !== undefined)
    look(transport.oauth.client_secret, ['oauth', 'client_secret'], 'sent');
  return { transport: { ...transport, headers }, env_secrets };

  function kept(values: Readonly<Record<string, string>>, key: 'env' | 'headers'): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(values).filter(([name, value]) => {
        // An empty one takes a variable away.
        if (!isSecretName(name) || value === '') return true;
        if (source === 'operator' && (env_secrets.includes(name) || referencesIn(value).some(({ kind }) => kind === 'secret'))) return true;
        warnings.push(
          note(
            [key, name],
            'looks like a secret and is not passed',
            source === 'project' ? OPERATOR : `Declare it: "env_secrets": ["${name}"].`,
          ),
        );
        return false;
      }),
    );
  }
}

/** Which arguments hold something that stands there in clear; an option and its value are looked at together. */
function secretsAmong(args: readonly string[], redactor: Places['redactor']): readonly number[] {
  const spans = redactor?.find(args.join(' ')) ?? [];
  let end = -1;
  return args.flatMap((arg, index) => {
    const from = end + 1;
    end = from + arg.length;
    const to = end;
    return !arg.includes('${') && spans.some((span) => span.from < to && span.to > from) ? [index] : [];
  });
}

const STORE = `Store it (\`writ secret set NAME\`) and give it to the server in "env", as \${secret:NAME}.`;
const OPERATOR = 'Configure the server in the operator configuration.';

function declare(name: string, source: UpstreamSettings['source']): string {
  return source === 'project' ? OPERATOR : `Name it in "env_secrets": ["${name}"].`;
}
