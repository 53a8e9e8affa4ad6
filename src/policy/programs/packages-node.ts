import { isKnown, isUnknown } from '../text.ts';
import { inspectCode } from './code.ts';
import { launched } from './launched.ts';
import { optionTable, readWords } from './options.ts';
import type { Call, Program } from './program.ts';
import { verbs } from './verbs.ts';

const NODE_VERBS = `
  : safe
  install|i|in|add|ci|clean-install|install-ci-test|cit|it|install-test|update|upgrade|up|dedupe|link|ln|rebuild|create|import|fetch|dlx|audit fix|import|patch-commit|rebuild : install
  test|t|tst|start|stop|restart|run|run-script|rum|build|lint|dev|pack|version|prune|shrinkwrap|node|workspace|workspaces|patch|bench|watch|typecheck|format|preview|serve|e2e|coverage|clean|prepare|compile|docs|generate|storybook : code
  exec|x : safe
  init : write
  uninstall|remove|rm|un|unlink|r : write
  ls|list|la|ll|root|prefix|bin|explain|why|help|pkg get|completion|query|fund|licenses|store path|store status|config get|config list|cache dir|sbom : safe
  pkg set|pkg delete|set-script : write
  view|info|show|v|outdated|search|s|audit|ping|whoami|doctor|repo|bugs|home|profile|stars|access|org|owner ls|team ls|dist-tag ls|diff : net
  publish|deprecate|unpublish|dist-tag|owner|team|access|star|unstar|hook|npm publish|login|adduser|logout|token|trust : upload
  config set|set|config delete|config edit|config fix : persist
  get|c get|c list : safe
  cache clean|cache verify|cache ls|store prune : write
  * : unknown
`;

const HARD_CONFIG =
  'script-shell=p node-options=- prefix=w C=r cwd=r dir=r w=- workspace=- userconfig=r globalconfig=r registry=n cache=w loglevel=- F=- filter=- shell=p git=p';

export const node = (): Program => {
  const run = verbs({
    globals: HARD_CONFIG,
    options: HARD_CONFIG,
    table: NODE_VERBS,
    presets: ['npm'],
    also: (call, verb, words) => {
      const global = words.has('g', 'global', 'location');
      if (global && /^(i|install|add|update|link|uninstall|remove)$/.test(verb))
        call.report('system_write', 'installs for all projects, in containment for those of this workspace');
      if (/^(unpublish|deprecate)$/.test(verb)) call.report('destructive', 'takes a published package away');
      if (verb === 'token' || (verb === 'config' && /_auth|token/i.test(call.args.join(' '))))
        call.report('credential_access', 'shows or makes access tokens');
      const hook = words.options.find((option) => /^node-options$/.test(option.name));
      if (hook !== undefined) call.report('code_execution', 'passes options to node');
      const rest = verb === 'explore' ? call.args.indexOf('--') : -1;
      if (rest >= 0) call.inner(rest + 1);
      if (verb === 'exec' || verb === 'x') {
        // pnpm and yarn run what is installed; npm and bun fetch what isn't.
        const tool = words.operands[0];
        if (/^(npm|bun|cnpm)$/.test(call.name) && !(tool !== undefined && isOfProject(call, tool))) execRemote(call);
        call.report('code_execution', 'runs a program of a package');
      }
      if (/^(exec|x|workspaces?)$/.test(verb)) launched(call);
      return undefined;
    },
  });
  return (call) => {
    // A verb that is no verb of theirs is a script of the project for yarn, pnpm and bun.
    const first = call.args.find((arg) => !arg.startsWith('-'));
    if ((call.name === 'yarn' || call.name === 'pnpm' || call.name === 'bun') && (first === undefined || !KNOWN_VERB.has(first))) {
      if (first === undefined) {
        if (call.name === 'yarn' && !call.args.some((arg) => /^(-v|--version|--help|-h)$/.test(arg)))
          call.report('install', 'yarn downloads and installs packages', { opens: { type: 'hosts', hosts: [], presets: ['npm'] } });
        return undefined;
      }
      if (isUnknown(first)) call.report('unknown', 'which command it is cannot be known from the text');
      const code = call.name === 'bun' ? call.args.findIndex((arg) => /^(-e|-p|--eval|--print)$/.test(arg)) : -1;
      if (code >= 0) inspectCode(call, call.args[code + 1] ?? '');
      if (call.name === 'bun' && /\.\w+$/.test(first)) call.runsFile(first, 'bun runs a program file');
      call.report('code_execution', 'runs a script or program of the project');
      launched(call);
      return undefined;
    }
    return run(call);
  };
};

const KNOWN_VERB = new Set(
  NODE_VERBS.split('\n')
    .flatMap((line) => (line.split(':')[0] ?? '').split('|').map((name) => name.trim().split(' ')[0] ?? ''))
    .filter((name) => name !== '' && name !== '*'),
);

/** `npx`, `npm exec`: what isn't there is downloaded, unless that is forbidden. */
function execRemote(call: Call): void {
  if (call.args.some((arg) => /^(--no-install|--no|--offline)$/.test(arg)) || call.args.includes('--no')) return;
  call.report('install', 'downloads and runs a package that may not be there', { opens: { type: 'hosts', hosts: [], presets: ['npm'] } });
}

/** Runners whose names are almost always dependencies of the project: asking each time for `npx tsc` would teach people to say yes. */
const PROJECT_TOOLS = new Set(
  'tsc eslint prettier vitest jest mocha ava playwright cypress webpack vite rollup rolldown esbuild tsx ts-node biome next nuxt astro turbo nx prisma drizzle-kit stylelint tailwindcss babel swc tsup knip depcruise lint-staged commitlint c8 nyc karma svelte-kit svelte-check vue-tsc storybook wrangler husky typedoc changeset semantic-release lerna rimraf concurrently nodemon oxlint publint madge tap'.split(
    ' ',
  ),
);

const NPX = optionTable(
  'p=- package=- c=x call=x y yes no no-install q quiet w=- workspace=- shell=p node-options=- n=- node-arg=- cache=w userconfig=r',
);

const isOfProject = (call: Call, tool: string): boolean => PROJECT_TOOLS.has(tool) || (call.name !== 'pnpx' && call.installed(tool));

export const npx: Program = (call) => {
  const words = readWords(call.args, NPX, true);
  const text = words.value('c', 'call');
  if (text !== undefined) call.shell(text);
  for (const { role, value } of words.options)
    if (role === 'p' && value !== undefined && value !== '') call.runsText(value, 'the runner starts another shell');
  call.report('code_execution', 'runs a program of a package');
  const at = words.at[0];
  const first = at === undefined ? undefined : call.args[at];
  const offline =
    words.has('no', 'no-install') || call.args.slice(0, at).some((arg) => /^(--no-install|--no|--offline|--no-download)$/.test(arg));
  const tool =
    first !== undefined &&
    isKnown(first) &&
    isOfProject(call, first) &&
    !words.has('p', 'package') &&
    (call.name === 'npx' || call.name === 'pnpx' || call.name === 'bunx');
  if (!offline && !tool) execRemote(call);
  if (at !== undefined && first === 'writ') call.inner(at);
  if (at !== undefined && first !== undefined && isKnown(first) && tool) call.inner(at);
  return undefined;
};
