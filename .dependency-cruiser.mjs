// The layer rules of the house: a room imports only rooms above it in this list, `execution` and `policy` only `kernel`.
const ROOMS = [
  'kernel',
  'store',
  'bus',
  'audit',
  'execution',
  'policy',
  'approvals',
  'identity',
  'upstreams',
  'tools',
  'fleet',
  'gate',
  'agent',
  'mcp',
  'http',
  'cli',
  'main',
];

const upwards = ROOMS.map((room, index) => ({
  name: `layer-${room}`,
  severity: 'error',
  comment: `${room}/ may use only the rooms above it`,
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: `^src/(${ROOMS.slice(index + 1).join('|') || 'none'})/` },
}));

const only = (name, room, allowed) => ({
  name,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: `^src/(${room}|${allowed.join('|')})/` },
});

const onlyIn = (name, places, modules) => ({
  name,
  severity: 'error',
  from: { path: '^src/', pathNot: [...places.map((place) => `^src/${place}`), '\\.test\\.ts$'] },
  to: { path: modules },
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upwards,
    only('execution-uses-kernel-only', 'execution', ['kernel']),
    only('policy-uses-kernel-only', 'policy', ['kernel']),
    onlyIn('only-execution-starts-processes', ['execution/'], '^(node:)?child_process$|@lydell/node-pty'),
    onlyIn('only-store-touches-a-database', ['store/'], '^(node:)?sqlite$|node_modules/(kysely|pg)/'),
    {
      name: 'rooms-are-entered-by-their-index',
      severity: 'error',
      comment: 'what others may use of a room is listed in its index.ts',
      from: { path: '^src/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(?!kernel/)[^/]+/', pathNot: '^src/$1/|^src/[^/]+/(index|types|tool)\\.ts$' },
    },
    { name: 'no-circular', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
