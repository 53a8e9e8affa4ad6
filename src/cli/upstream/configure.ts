import type { Command } from 'commander';
import type { Entry } from '../../kernel/config/edit-servers.ts';
import { AppError } from '../../kernel/errors.ts';
import { addServer, changeServer, disabledTools, removeServer, switched, withDisabledTools } from '../../upstreams/index.ts';
import type { App, Terminal, UpstreamsPort } from '../app.ts';
import { collect } from '../repeatable.ts';
import { type EntryFlags, entryOf } from './entry-flags.ts';
import { announced, renderInstalled, untilTold } from './install.ts';
import { ofOperator, withUpstreams, wrong } from './with-upstreams.ts';

const rendering = () => import('./render.ts');

interface AddFlags extends EntryFlags {
  readonly replace?: boolean;
  readonly connect: boolean;
  readonly json?: boolean;
}

/** What writes ~/.writ/config.json. */
export function configureCommands(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('add')
    .description('configure a server: it is checked, connected once, and then written to ~/.writ/config.json')
    .argument('<name>')
    .argument('[command...]', 'after "--": the program of a local server and its arguments')
    .option('--url <address>', 'of a remote server')
    .option('--type <type>', 'stdio, http or sse, where it is not plain')
    .option('--command <program>', 'another way to say the program')
    .option('--args <json>', 'its arguments as a JSON list of texts')
    .option('--env <name[=value]>', "a variable; without a value that of Writ's own environment; repeatable", collect, [])
    .option('--header <name:value>', 'of a remote server; repeatable', collect, [])
    .option('--root <folder[:write]>', 'a folder that it may read, or write as well; repeatable', collect, [])
    .option('--network <none|full|hosts>', 'what it reaches; hosts and presets with commas')
    .option('--cwd <folder>', 'where it starts')
    .option('--prefix <text>', 'in front of the names of its tools')
    .option('--timeout <seconds>', 'longest time of one call')
    .option('--disable-tool <name>', 'a tool that nobody may call; repeatable', collect, [])
    .option('--require-approval', "each of its tools needs a person's yes")
    .option('--entry <json>', 'the entry, or more keys of it, as a JSON object')
    .option('--replace', 'one of that name is replaced')
    .option('--no-connect', 'write it without having connected')
    .option('--json', 'machine-readable output')
    .action(async (name: string, words: readonly string[], flags: AddFlags) => {
      await withUpstreams(app, async (port) => add(name, words, flags, port, terminal, await app()));
    });

  upstream
    .command('remove')
    .description('take a server out of the configuration; what was approved of it is forgotten')
    .argument('<name>')
    .option('--json', 'machine-readable output')
    .action(async (name: string, options: { json?: boolean }) => {
      await withUpstreams(app, async (port) => {
        ofOperator(port, name);
        const { written, forgotten, secrets_kept } = await removeServer(name, port);
        if (options.json) return terminal.out(`${JSON.stringify({ name, forgotten, ...written })}\n`);
        terminal.out(`${name} is removed from ${written.file}.${backup(written.backup)}\n`);
        if (secrets_kept.length > 0) terminal.out(`Its secrets are kept: ${secrets_kept.join(', ')} (\`writ secret remove\`).\n`);
      });
    });

  for (const word of ['enable', 'disable'] as const) {
    upstream
      .command(word)
      .description(
        word === 'enable' ? 'use a server, or some of its tools, again' : 'never start a server, or never call some of its tools',
      )
      .argument('<name>')
      .argument('[tools...]', 'by their own names')
      .option('--json', 'machine-readable output')
      .action(async (name: string, tools: readonly string[], options: { json?: boolean }) => {
        await withUpstreams(app, async (port) => {
          ofOperator(port, name);
          const edit = (entry: Entry): Entry => (tools.length === 0 ? switched(entry, word === 'enable') : withTools(entry, word, tools));
          const changed = await changeServer(name, edit, {}, port);
          if (changed.type === 'invalid') throw wrong(changed.problems);
          const { written } = changed;
          const what = tools.length === 0 ? name : `${tools.join(', ')} of ${name}`;
          if (options.json) terminal.out(`${JSON.stringify({ name, tools, ...written })}\n`);
          else terminal.out(`${word === 'enable' ? 'Enabled' : 'Disabled'}: ${what}.${backup(written.backup)}\n`);
        });
      });
  }
}

/** Nothing is written before it was checked and, unless that isn't wanted, connected. */
async function add(
  name: string,
  words: readonly string[],
  flags: AddFlags,
  port: UpstreamsPort,
  terminal: Terminal,
  parts: App,
): Promise<void> {
  const taken = port.servers.find((each) => each.name === name && each.source === 'operator');
  if (taken !== undefined && flags.replace !== true) {
    throw new AppError('invalid_arguments', `There is a server "${name}" already.`, { fix: 'Choose another name, or say --replace.' });
  }
  const { entry, secrets } = entryOf(name, words, flags);
  const read = port.check(name, entry);
  if (!read.ok) throw wrong(read.problems);
  const { renderLook, renderNotes, renderSettings } = await rendering();
  if (!flags.json) terminal.out(`${renderSettings(port.mask(read.settings))}\n${renderNotes(read.warnings)}`);
  const added = await addServer(
    { settings: read.settings, entry, secrets, connect: flags.connect, replace: flags.replace === true },
    {
      ...port,
      async install(settings) {
        if (!flags.json) terminal.out(announced(settings, port));
        const installed = await port.install(settings, {}, untilTold(parts));
        if (!flags.json) terminal.out(renderInstalled(installed));
        return installed;
      },
      looked: (looked) => {
        if (!flags.json) terminal.out(`${renderLook(looked)}\n`);
      },
    },
  );
  const { looked } = added;
  if (added.type === 'not_connected') {
    throw new AppError('upstream_unavailable', `"${name}" could not be connected, so nothing was written.`, {
      fix: 'Mend what it says above, or say --no-connect to write it all the same.',
      data: { looked },
    });
  }
  const { written } = added;
  if (flags.json)
    return terminal.out(
      `${JSON.stringify({ name, entry: port.mask(read.settings), looked, secrets: Object.keys(secrets), ...written })}\n`,
    );
  for (const stored of Object.keys(secrets)) {
    terminal.out(`  ! ${stored} went into the secret store; it stood on the command line, where others may have seen it.\n`);
  }
  terminal.out(`${name} is written to ${written.file}.${backup(written.backup)}\n`);
  if (looked === undefined && read.settings.enabled && port.packageOf(read.settings).state === 'missing') {
    terminal.out(`It is not installed yet: \`writ upstream install ${name}\`.\n`);
  }
}

function withTools(entry: Entry, word: 'enable' | 'disable', tools: readonly string[]): Entry {
  const before = disabledTools(entry);
  return withDisabledTools(entry, word === 'disable' ? [...before, ...tools] : before.filter((tool) => !tools.includes(tool)));
}

function backup(path: string | undefined): string {
  return path === undefined ? '' : ` The file as it was: ${path}`;
}
