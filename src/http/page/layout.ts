import { html, raw } from 'hono/html';
import { STYLE } from './style.ts';

/** What `html` makes: escaped text. */
export type Html = ReturnType<typeof html>;

export interface Document {
  readonly title: string;
  readonly nonce: string;
  readonly body: Html;
  readonly script?: string;
}

/** A whole document. Style and script are ours and constant, and the only ones that its policy lets run. */
export function page({ title, nonce, body, script }: Document): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>
<link rel="icon" href="data:,"><style nonce="${nonce}">${raw(STYLE)}</style></head>
<body>${body}${script === undefined ? '' : html`<script nonce="${nonce}">${raw(script)}</script>`}</body>
</html>`;
}

/** Nothing but our own inline code, forms and fetches to ourselves, no frames around us. */
export function securityHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      'img-src data:',
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // Stricter ones make browsers send `Origin: null` with our own forms.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  };
}

export function time(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
}
