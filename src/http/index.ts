export { type Bearers, createBearers } from './bearers.ts';
export { createHealth, type Health, sendJson } from './health.ts';
export { CLIENT_METADATA, createLoginRoutes, LOGIN_CALLBACK } from './login-routes.ts';
export { createPage, type Page } from './page/page.ts';
export type { PageParts } from './page/types.ts';
export { createRefusals, type Refusals } from './refusals.ts';
export { type HttpServer, listen, type McpEndpoint } from './server.ts';
