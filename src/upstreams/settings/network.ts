import type { ConfigNote } from '../../kernel/config/index.ts';
import { quoted } from '../../kernel/config/parse.ts';
import type { ServerEntry } from '../../kernel/config/server-entry.ts';
import type { UpstreamNetwork } from '../types.ts';
import type { Note } from './note.ts';

const HOST = /^(?:(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[1-9]\d{0,4})?$/;
const PRESET = /^[a-z][a-z0-9_-]{0,31}$/;

/** In a list of both a word is a preset: hosts of the public network have a dot. */
export function readNetwork(given: NonNullable<ServerEntry['network']>, note: Note, problems: ConfigNote[]): UpstreamNetwork {
  if (typeof given === 'string') return given;
  const listed = Array.isArray(given) ? given : undefined;
  const hosts = listed?.filter((word) => !PRESET.test(word)) ?? ('hosts' in given ? (given.hosts ?? []) : []);
  const presets = listed?.filter((word) => PRESET.test(word)) ?? ('presets' in given ? (given.presets ?? []) : []);
  for (const host of hosts.filter((one) => !HOST.test(one))) {
    problems.push(
      note(['network'], `names ${quoted(host)}, which is no host`, 'Write it as example.com, *.example.com or example.com:8443.'),
    );
  }
  for (const preset of presets.filter((one) => !PRESET.test(one))) {
    problems.push(note(['network'], `names ${quoted(preset)}, which is no preset`, 'Presets are words such as npm, pypi or github.'));
  }
  return hosts.length === 0 && presets.length === 0 ? 'none' : { hosts: [...new Set(hosts)], presets: [...new Set(presets)] };
}
