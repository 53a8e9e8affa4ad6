import { html } from 'hono/html';
import { networkTyped, rootTyped } from '../../kernel/config/typed.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import { visible } from '../../kernel/visible.ts';
import type { ServerToAddOver } from '../servers/types.ts';
import { textOf } from './form.ts';
import type { Html } from './layout.ts';

/** What was typed, by the name of its field. */
type Typed = Readonly<Record<string, string>>;

const FIELDS = ['name', 'command', 'args', 'roots', 'network', 'env', 'url', 'headers', 'entry'] as const;

/** `problems`: what was wrong with it the last time, which is all still there. */
export function addServerPage(csrf: string, typed: Typed = {}, problems: readonly string[] = []): Html {
  const text = (name: string, label: string, hint = ''): Html =>
    html`<label>${label}${hint === '' ? '' : html` <span class="quiet">${hint}</span>`} <input type="text" name="${name}" value="${typed[name] ?? ''}" spellcheck="false" autocapitalize="off"></label>`;
  const lines = (name: string, label: string, hint: string, rows = 3): Html =>
    html`<label>${label} <span class="quiet">${hint}</span><textarea name="${name}" rows="${rows}" spellcheck="false" autocapitalize="off">
${typed[name] ?? ''}</textarea></label>`;
  return html`<h2>Add an MCP server</h2>
${problems.length === 0 ? '' : html`<div class="warn" role="alert"><p>Nothing was written:</p><ul>${problems.map((problem) => html`<li>${visible(problem)}</li>`)}</ul></div>`}
<form method="post" action="add-server" autocomplete="off"><input type="hidden" name="csrf" value="${csrf}">
${text('name', 'Name', '(letters, digits, "_", "-")')}
<fieldset><legend>A program on this machine</legend>
${text('command', 'Program')}${lines('args', 'Arguments', '(one a line)')}${lines('roots', 'Folders it may read', '(one a line; with ":write" at the end it may write there)')}
${text('network', 'Network', '(none, full, or hosts and presets with commas; full where it is left out)')}${lines('env', 'Variables', '(NAME=value, one a line; secrets go into the store)')}</fieldset>
<fieldset><legend>Or a remote server</legend>${text('url', 'Address')}${lines('headers', 'Headers', '(Name: value, one a line)')}</fieldset>
<fieldset><legend>Or as other programs write it</legend>${lines('entry', 'Entry', '(JSON, as in a README: an entry, or mcpServers with one)', 6)}</fieldset>
<label><input type="checkbox" name="connect" value="yes"${typed['connect'] === 'no' ? '' : html` checked`}>Connect it once, and write it only if that works; a package of npx or uvx is installed for it</label>
<div class="row"><button class="go">Add</button></div></form>`;
}

export function typedIn(form: FormData): Typed {
  const typed = FIELDS.map((name) => [name, textOf(form, name)]);
  return { ...Object.fromEntries(typed), connect: form.get('connect') === 'yes' ? 'yes' : 'no' };
}

/** What the fields come to; it is checked like any entry afterwards. */
export function readAddServer(typed: Typed): ServerToAddOver | { readonly problem: string } {
  const given = (name: string): string => typed[name]?.trim() ?? '';
  const more = { connect: typed['connect'] === 'yes', replace: false };
  if (given('entry') !== '') {
    if (given('command') !== '' || given('url') !== '') return { problem: 'Fill in one of the three: a program, an address, or an entry.' };
    const read = readEntry(given('name'), given('entry'));
    return 'problem' in read ? read : { ...read, ...more };
  }
  const entry: Record<string, unknown> = {};
  const put = (key: string, value: unknown, is: boolean): void => {
    if (is) entry[key] = value;
  };
  const env = pairs(typed['env'] ?? '', '=');
  const headers = pairs(typed['headers'] ?? '', ':');
  const bad = env.bad ?? headers.bad;
  if (bad !== undefined) return { problem: `"${bad.slice(0, 40)}" is no name and value.` };
  put('command', given('command'), given('command') !== '');
  put('args', linesOf(typed['args'] ?? ''), given('args') !== '');
  put(
    'roots',
    linesOf(typed['roots'] ?? '').map((line) => rootTyped(line.trim())),
    given('roots') !== '',
  );
  put('network', networkTyped(given('network')), given('network') !== '');
  put('env', env.values, Object.keys(env.values).length > 0);
  put('url', given('url'), given('url') !== '');
  put('headers', headers.values, Object.keys(headers.values).length > 0);
  return { name: given('name'), entry, ...more };
}

/** An entry, or the object that holds one under its name, or the file that holds that. */
function readEntry(
  name: string,
  text: string,
): { readonly name: string; readonly entry: Record<string, unknown> } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'The entry is no valid JSON.' };
  }
  if (!isObject(value)) return { problem: 'The entry must be a JSON object.' };
  const held = value['mcpServers'] ?? value['mcp_servers'] ?? (isEntry(value) ? undefined : value);
  if (held === undefined) return { name, entry: value };
  const all = isObject(held) ? Object.entries(held) : [];
  const [[key, entry] = ['', undefined]] = all;
  if (all.length !== 1 || !isObject(entry))
    return { problem: 'The entry must hold exactly one server; `writ upstream import` takes several.' };
  return { name: name === '' ? key : name, entry };
}

function isEntry(value: object): boolean {
  return 'command' in value || 'url' in value || 'type' in value;
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}

function pairs(text: string, mark: string): { readonly values: Record<string, string>; readonly bad?: string } {
  const lines = linesOf(text);
  const bad = lines.find((line) => line.indexOf(mark) < 1);
  const values = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(mark)).trim(), line.slice(line.indexOf(mark) + 1).trim()]),
  );
  return { values, ...(bad === undefined ? {} : { bad }) };
}
