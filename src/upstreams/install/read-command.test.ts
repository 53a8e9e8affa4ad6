import { expect, test } from 'vitest';
import { readCommand } from './read-command.ts';

const read = (line: string) => {
  const [command = '', ...args] = line.split(' ').map((word) => word.replaceAll('_', ' '));
  const found = readCommand({ type: 'stdio', command, args, env: {} });
  if (found.type !== 'package') return found.type;
  const { ecosystem, specs, bin, registry } = found.wanted;
  return [ecosystem, specs.join(' '), bin ?? '', args.slice(found.args_from).join(' '), ...(registry ? [registry] : [])].join('|');
};

test.each([
  ['npx -y @modelcontextprotocol/server-memory', 'npm|@modelcontextprotocol/server-memory||'],
  ['npx @scope/x@latest /data --flag -y', 'npm|@scope/x@latest||/data --flag -y'],
  ['npx x@^1.2 -- a', 'npm|x@^1.2||-- a'],
  ['npx -- x a', 'npm|x||a'],
  ['npx -y --package=x bin --port 1', 'npm|x|bin|--port 1'],
  ['npx --package x -p @s/y@2 bin', 'npm|x @s/y@2|bin|'],
  ['npx --registry=https://npm.corp.example/ x', 'npm|x|||https://npm.corp.example/'],
  ['/usr/local/bin/npx -y x', 'npm|x||'],
  ['npx.cmd -y x', 'npm|x||'],
  ['cmd /c npx -y x a', 'npm|x||a'],
  ['npm exec -y x -- --flag', 'npm|x||--flag'],
  ['npm exec --package=x -- bin --flag', 'npm|x|bin|--flag'],
  ['npm x x a b', 'npm|x||a b'],
  ['pnpm dlx x a', 'npm|x||a'],
  ['pnpm --package=x dlx bin', 'own'],
  ['pnpm dlx --package=x bin', 'npm|x|bin|'],
  ['pnpx x', 'npm|x||'],
  ['yarn dlx -p x bin', 'npm|x|bin|'],
  ['bunx --bun x', 'npm|x||'],
  ['bun x x', 'npm|x||'],
  ['uvx mcp-server-git --repository .', 'python|mcp-server-git|mcp-server-git|--repository .'],
  ['uvx mcp-server-git@1.2.3', 'python|mcp-server-git==1.2.3|mcp-server-git|'],
  ['uvx mcp-server-git@latest', 'python|mcp-server-git|mcp-server-git|'],
  ['uvx --from x==1.2 bin a', 'python|x==1.2|bin|a'],
  ['uvx --from x[cli]>=1,<2 --with y bin', 'python|x[cli]>=1,<2 y|bin|'],
  ['uv tool run x', 'python|x|x|'],
  ['pipx run --spec x==1 bin', 'python|x==1|bin|'],
])('%s', (line, is) => {
  expect(read(line)).toBe(is);
});

test.each([
  'node server.js',
  'npx ./server',
  'npx /opt/server a',
  'npx -y ../x.tgz',
  'npx --package=./x bin',
  'uvx --from ./x bin',
  'uv run --directory /srv/x server',
  'uv --directory /srv/x run server',
  'npm start',
  'pnpm exec x',
  'docker run -i x',
  'sh -c node_x',
])('%s fetches nothing', (line) => {
  expect(read(line)).toBe('own');
});

test.each([
  'npx',
  'npx -y',
  'npx --package=x',
  'npx -c x_y',
  'npx --unknown x',
  'npx -y github:user/repo',
  'npx user/repo',
  'npx git+https://example.com/x.git',
  'npx https://example.com/x.tgz',
  'npx x@npm:y@1',
  'npx x@file:../y',
  'npx -p ./x -p evil@latest evil',
  'uvx --from ./x --with evil x',
  `npx ${'$'}{NAME}`,
  'npx --package=--global x',
  'npx --package=x;y z',
  'npx --registry=ftp://x y',
  'npm exec x --flag',
  'uvx --python 3.12 x',
  'uvx git+https://example.com/x',
  'uvx x@https://example.com/x.whl',
  'uvx --from -r x',
  'uv run --with fastmcp fastmcp run server.py',
  'deno run -A npm:x',
  'bash -lc npx_-y_x',
  'sh -c cd_/x_&&_uvx_y',
  'nix run nixpkgs#x',
])('%s is not understood, with a reason', (line) => {
  expect(read(line)).toBe('unclear');
});
