import { expect, test } from 'vitest';
import { createSealedStore } from '../../src/identity/index.ts';
import { runWrit, startMcp } from '../helpers/writ-process.ts';
import { fixture, gatewayPlace, listed } from './place.ts';

const SECRET = 'Xk7/q+p"9 zz-4Rm';

/** What a server is given as a secret is in nothing that comes back from it, and in nothing that Writ writes down. */
test('a secret of the store comes out masked, however its server tells it', async () => {
  const place = gatewayPlace((at) => ({
    shop: fixture(at, 'telling-server.mjs', [], { env: { SHOP_CODE: `\${secret:SHOP}` }, env_secrets: ['SHOP_CODE'] }),
  }));
  createSealedStore(place.home, 'secrets').set('SHOP', SECRET);
  const heard: unknown[] = [];
  const mcp = await startMcp(place, {
    capabilities: { elicitation: {} },
    onNotification: (method, params) => void heard.push({ method, params }),
    onRequest: (method, params) => {
      heard.push({ method, params });
      return { action: 'decline' };
    },
  });
  try {
    await listed(mcp, 'shop__tell');
    await mcp.ask('logging/setLevel', { level: 'debug' });
    heard.push(await mcp.ask('tools/list'), await mcp.ask('resources/list'), await mcp.ask('resources/read', { uri: 'shop://a' }));
    heard.push(await mcp.ask('tools/call', { name: 'shop__tell', arguments: {}, _meta: { progressToken: 't' } }));
    heard.push(await mcp.call('shop__fail', { was: SECRET }), await mcp.call('shop__ask', {}));
    await expect.poll(() => mcp.stderr(), { timeout: 10_000 }).toContain('[shop] told');
    await mcp.end();
    const { stdout } = await runWrit(place, ['audit', 'list', '--json', '--limit', '100']);
    expect(stdout).toContain('shop__fail');
    const all = [JSON.stringify(heard), mcp.stderr(), stdout].join('\n');
    for (const said of ['elicitation/create', 'notifications/progress', 'notifications/message', 'read [', 'no [', 'Knows ['])
      expect(all).toContain(said);
    // In base64 it begins anywhere in a group of three.
    const inBase64 = ['', 'u', 'us'].map((front) =>
      Buffer.from(front + SECRET)
        .toString('base64')
        .slice(4, 16),
    );
    const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), 'Xk7/', ...inBase64];
    for (const form of forms) expect(all).not.toContain(form);
  } finally {
    await mcp.end();
    place.remove();
  }
});
