import { isSecretName, type Redactor } from '../../kernel/redaction/index.ts';
import type { UpstreamOAuth, UpstreamSettings } from '../types.ts';

const MASK = '[redacted]';

/** Settings as they may be shown: what stands in clear under the name of a secret, or looks like one, is taken out. References stay. */
export function maskSettings(settings: UpstreamSettings, redactor: Pick<Redactor, 'text'>): UpstreamSettings {
  const { transport } = settings;
  const values = (of: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [name, isClear(name, value) ? MASK : redactor.text(value)]));
  return {
    ...settings,
    transport:
      transport.type === 'stdio'
        ? { ...transport, args: transport.args.map((arg) => redactor.text(arg)), env: values(transport.env) }
        : { ...transport, url: maskUrl(redactor.text(transport.url)), headers: values(transport.headers), ...maskOauth(transport.oauth) },
  };
}

function isClear(name: string, value: string): boolean {
  return isSecretName(name) && value !== '' && !value.includes('${');
}

/** Whatever comes before the host, and parameters with the name of a secret; the rest byte by byte, since it may hold references. */
function maskUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (whole, scheme: string, user: string) =>
      user.includes('${') ? whole : `${scheme}${MASK}@`,
    )
    .replace(/([?&])([^=&#]+)=([^&#]+)/g, (whole, mark: string, name: string, value: string) =>
      isClear(name, value) ? `${mark}${name}=${MASK}` : whole,
    );
}

function maskOauth(oauth: UpstreamOAuth | false | undefined): { readonly oauth?: UpstreamOAuth | false } {
  if (oauth === undefined) return {};
  if (oauth === false || oauth.client_secret === undefined || oauth.client_secret.includes('${')) return { oauth };
  return { oauth: { ...oauth, client_secret: MASK } };
}
