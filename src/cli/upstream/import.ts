import { resolve } from 'node:path';
import type { Command } from 'commander';
import { toAppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import { type Imported, type SettingsRead, storeSecrets, type Translated } from '../../upstreams/index.ts';
import type { App, Terminal, UpstreamsPort } from '../app.ts';
import { announced, renderInstalled, untilTold } from './install.ts';
import { withUpstreams } from './with-upstreams.ts';

interface Flags {
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly install: boolean;
  readonly json?: boolean;
}

/** One server of a file, and what will become of it. */
type Planned =
  | { readonly plan: 'write'; readonly from: string; readonly server: Imported; readonly read: SettingsRead & { readonly ok: true } }
  | { readonly plan: 'skip'; readonly from: string; readonly name: string; readonly why: string };

export function importCommand(upstream: Command, app: () => Promise<App>, terminal: Terminal): void {
  upstream
    .command('import')
    .description('take over the servers of other programs: claude, claude-desktop, cursor, vscode, gemini, codex, opencode, or a file')
    .argument('[from]', 'only this program or file')
    .option('--from <program|file>', 'the same as an option')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--replace', 'servers of the same name are replaced')
    .option('--no-install', 'leave the packages of `npx`, `uvx` and the like for `writ upstream install`')
    .option('--json', 'machine-readable output')
    .action(async (from: string | undefined, flags: Flags) => {
      const parts = await app();
      await withUpstreams(app, async (port) => importAll(from === undefined ? flags : { ...flags, from }, parts, port, terminal));
    });
}

async function importAll(flags: Flags, parts: App, port: UpstreamsPort, terminal: Terminal): Promise<void> {
  const given = flags.from === undefined || /^[a-z-]+$/.test(flags.from) ? flags.from : resolve(parts.cwd, flags.from);
  const { files, unreadable } = await port.imports(given);
  const taken = new Set(flags.replace ? [] : port.servers.filter(({ source }) => source === 'operator').map(({ name }) => name));
  const planned = files.flatMap(({ path, servers }) => servers.map((server) => plan(server, path, taken, port)));
  const writes = planned.filter((one) => one.plan === 'write');
  if (flags.json !== true) {
    for (const { path, why } of unreadable) terminal.out(`  ! ${visible(path)}: ${visible(why)}\n`);
    if (planned.length === 0) terminal.out('No servers were found.\n');
    const { renderNotes, renderSettings } = await import('./render.ts');
    for (const one of planned) {
      if (one.plan === 'skip') terminal.out(`  - ${visible(one.name)}: left out: ${visible(one.why)} (${visible(one.from)})\n`);
      else {
        const will = flags.install ? announced(one.read.settings, port) : '';
        terminal.out(
          `${one === planned[0] ? '' : '\n'}${renderSettings(port.mask(one.read.settings))}\n  ${'from'.padEnd(10)} ${visible(one.from)}\n${will}`,
        );
        terminal.out(renderNotes([...notesOf(one.server).map((message) => ({ message })), ...one.read.warnings]));
      }
    }
  }
  const done =
    flags.dryRun === true || writes.length === 0
      ? undefined
      : await write(
          writes.map(({ server }) => server),
          port,
        );
  const packages = done === undefined || !flags.install ? [] : await installAll(writes, flags, parts, port, terminal);
  if (flags.json) {
    const servers = planned.map((one) =>
      one.plan === 'skip'
        ? one
        : {
            plan: one.plan,
            from: one.from,
            name: one.server.name,
            settings: port.mask(one.read.settings),
            notes: notesOf(one.server),
            warnings: one.read.warnings,
          },
    );
    terminal.out(`${JSON.stringify({ servers, unreadable, packages, ...(done ?? { written: false }) })}\n`);
  } else if (done !== undefined) {
    const kept = done.backup === undefined ? '' : ` The file as it was: ${done.backup}`;
    terminal.out(
      `${writes.length} written to ${done.file}.${kept}\n${notReady(writes, flags, port)}Take them out of the other programs, so that nothing goes past Writ.\n`,
    );
  } else if (flags.dryRun) terminal.out(`${writes.length} would be written; nothing was.\n`);
  if (unreadable.length > 0 && files.length === 0) terminal.exit(1);
}

/** What still has to be done, in one place: what was said of each stands far above by then. */
function notReady(writes: readonly Extract<Planned, { plan: 'write' }>[], { install }: Flags, port: UpstreamsPort): string {
  const left = writes.flatMap(({ server, read: { settings } }): readonly string[] => {
    const { name, enabled } = settings;
    if (!enabled) return [`${name}: it is disabled (writ upstream enable ${name}, once it is as it should be)`];
    const found = port.packageOf(settings);
    return [
      ...('reason' in found
        ? [`${name}: ${install ? 'it could not be installed' : 'it is not installed'} (writ upstream install ${name})`]
        : []),
      ...server.wanted.filter((secret) => !port.secrets.list().includes(secret)).map((secret) => `${name}: writ secret set ${secret}`),
    ];
  });
  return left.length === 0 ? '' : `Not ready yet:\n${left.map((line) => `  ${visible(line)}\n`).join('')}`;
}

/** Two files may have the same one: the first counts, a different one of that name is said. */
function plan(translated: Translated, from: string, taken: Set<string>, port: UpstreamsPort): Planned {
  if (translated.type === 'skipped') return { plan: 'skip', from, name: translated.name, why: translated.why };
  const { server } = translated;
  if (taken.has(server.name))
    return {
      plan: 'skip',
      from,
      name: server.name,
      why: 'there is one of that name already; give it another name there, or `writ upstream add` it under another one',
    };
  const read = port.check(server.name, server.entry);
  if (!read.ok) return { plan: 'skip', from, name: server.name, why: read.problems.map(({ message }) => message).join('; ') };
  taken.add(server.name);
  return { plan: 'write', from, server, read };
}

/** One after the other; one that can't be had is said and stays `needs_install`. */
async function installAll(
  writes: readonly Extract<Planned, { plan: 'write' }>[],
  { json }: Flags,
  parts: App,
  port: UpstreamsPort,
  terminal: Terminal,
): Promise<readonly { readonly name: string; readonly installed: boolean; readonly why?: string }[]> {
  const signal = untilTold(parts);
  const done: { name: string; installed: boolean; why?: string }[] = [];
  for (const { read } of writes) {
    const { name, enabled } = read.settings;
    const { state } = port.packageOf(read.settings);
    if (!enabled || (state !== 'missing' && state !== 'changed')) continue;
    try {
      const installed = await port.install(read.settings, {}, signal);
      done.push({ name, installed: true });
      if (json !== true) terminal.out(renderInstalled(installed));
    } catch (thrown) {
      const why = toAppError(thrown).message;
      done.push({ name, installed: false, why });
      if (json !== true)
        terminal.out(
          `  ! ${name}: ${why.split('\n').map(visible).join('\n      ')}\n      \`writ upstream install ${name}\` tries again.\n`,
        );
      if (signal.aborted) break;
    }
  }
  return done;
}

function notesOf({ notes, wanted, secrets }: Imported): readonly string[] {
  return [
    ...notes,
    ...Object.keys(secrets).map((name) => `${name} goes into the secret store`),
    ...wanted.map((name) => `it needs a secret: \`writ secret set ${name}\``),
  ];
}

async function write(servers: readonly Imported[], port: UpstreamsPort): ReturnType<UpstreamsPort['write']> {
  const forget = storeSecrets(Object.fromEntries(servers.flatMap(({ secrets }) => Object.entries(secrets))), port.secrets);
  try {
    return await port.write(servers.map(({ name, entry }) => ({ name, entry })));
  } catch (thrown) {
    forget();
    throw thrown;
  }
}
