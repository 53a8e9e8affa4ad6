import { HTTP_PROXY_PORT } from './inlets.ts';

const CONNECT_AT = '/etc/ssh/writ-connect';

/**
 * ssh knows no HTTP proxy, and what could help it (nc, socat) isn't everywhere; bash and cat are. Files of /etc that are the same for
 * every run: where no allow-list is open, the first one does nothing.
 */
export const SSH_FILES: Readonly<Record<string, string>> = {
  '/etc/ssh/ssh_config.d/00-writ.conf': `Match exec "env | grep -q ^HTTP_PROXY=http://127.0.0.1:${HTTP_PROXY_PORT}$"
  ProxyCommand /bin/bash ${CONNECT_AT} %h %p
`,
  [CONNECT_AT]: `exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY_PORT} || exit 1
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s:%s\\r\\n\\r\\n' "$1" "$2" "$1" "$2" >&3
IFS= read -r status <&3
while IFS= read -r line <&3 && [[ $line != $'\\r' ]]; do :; done
if [[ $status != 'HTTP/1.1 200'* ]]; then cat <&3 >&2; exit 1; fi
cat <&0 >&3 &
cat <&3
kill $! 2>/dev/null
`,
};
