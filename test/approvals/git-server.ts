import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Of who may push to repositories whose name begins with `private`; to the others anybody may. */
export const CREDENTIALS = 'dev:a-password';

/** Hands a request to `git http-backend`, as a web server would by CGI: repositories below `root`. */
export function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x');
  const { headers, method } = request;
  if (url.pathname.startsWith('/private') && headers.authorization !== `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    return;
  }
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: root,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.receivepack',
    GIT_CONFIG_VALUE_0: 'true',
    GIT_CONFIG_KEY_1: 'safe.directory',
    GIT_CONFIG_VALUE_1: '*',
    REQUEST_METHOD: method ?? 'GET',
    PATH_INFO: url.pathname,
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: String(headers['content-encoding'] ?? ''),
    ...(headers['content-length'] ? { CONTENT_LENGTH: headers['content-length'] } : {}),
  };
  const backend = execFile('git', ['http-backend'], { env, encoding: 'buffer' }, (failed, stdout) => {
    const end = stdout.indexOf('\r\n\r\n');
    if (end < 0) return response.writeHead(500).end(String(failed));
    for (const line of stdout.subarray(0, end).toString().split('\r\n')) {
      const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(stdout.subarray(end + 4));
  });
  if (backend.stdin) request.pipe(backend.stdin).on('error', () => undefined);
}
