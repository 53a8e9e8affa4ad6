/** What a browser says of where a request comes from. */
interface Origins {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: every browser of these days sends it, and no script can change it. */
  readonly site: string | undefined;
}

export interface OwnOrigins {
  /** Names in `Host` without port. */
  readonly hosts: readonly string[];
  readonly public_origin: string | undefined;
}

/**
 * DNS rebinding: a page whose name suddenly means this machine still sends its own name as `Host`. Undefined: it is us.
 */
export function foreignHost({ host }: Pick<Origins, 'host'>, { hosts }: OwnOrigins): string | undefined {
  if (host === undefined) return 'there is no Host header';
  const port = host.lastIndexOf(':');
  const name = (port > host.lastIndexOf(']') ? host.slice(0, port) : host).toLowerCase();
  return hosts.includes(name) ? undefined : 'the Host header is not ours';
}

/**
 * Whether something that acts or streams comes from a page of this very origin. Another port of this machine is the same *site* to a
 * browser and sends cookies, so only the same *origin* counts. Undefined: it does.
 */
export function foreignOrigin({ host, origin, site }: Origins, { public_origin }: OwnOrigins): string | undefined {
  if (site !== undefined && site !== 'same-origin') return `it comes from a page that is ${site}`;
  if (origin !== undefined && origin !== `http://${host}` && origin !== public_origin) return 'it comes from a page of another origin';
  if (site === undefined && origin === undefined) return 'the browser does not say where it comes from';
  return undefined;
}

/** Whether a page may be looked at: typed, bookmarked, a link from a terminal, or from ourselves; never framed or fetched by others. */
export function foreignVisit({ site }: Pick<Origins, 'site'>, mode: string | undefined): string | undefined {
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return mode === 'navigate' ? undefined : `it is fetched by a page that is ${site}`;
}
