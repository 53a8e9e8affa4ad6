import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { selfIdentity } from '../kernel/self-identity.ts';
import { type ConnectionEnds, connectionPeer } from './connection-peer.ts';
import type { AskedBy, ProcessRef } from './types.ts';

/**
 * Nobody approves themselves: who started what, read from /proc. A person's own terminal hangs under a shell of theirs; a process under
 * the program that asks, or under the host that started that program for an agent, is taken for the agent's.
 */

/** Deeper trees than this don't occur; a loop can't either, but nothing here waits to find out. */
const DEEPEST = 64;
const MOST_HOSTS = 16;
/** Of a command line: what it runs stands behind the options of the interpreter. */
const MOST_WORDS = 16;

/** What hosts start programs through: the host is further up. */
const LAUNCHERS = new Set(['sh', 'dash', 'bash', 'zsh', 'fish', 'busybox', 'env', 'npx', 'npm', 'pnpm', 'yarn', 'bunx', 'uvx']);
const LAUNCHER_SCRIPTS = /(^|\/)(npx|npm|npx-cli\.js|npm-cli\.js|pnpm|pnpx|yarn|yarn\.js|corepack)$/;

/**
 * What starts anything that a person wants, agents and terminals alike: services, logins, desktops, terminals. Being under one of these
 * says nothing about who somebody acts for. One that is missing here only makes answers in a terminal rarer.
 */
const STARTERS =
  /^(systemd|init|dbus-(daemon|broker.*)|sshd(-.*)?|login|su|sudo|cron|tmux.*|screen|zellij|gnome-(shell|session.*|terminal.*)|ptyxis.*|kgx|plasmashell|kde.*|krunner|konsole|ksmserver|kwin.*|xfce4-.*|xfdesktop|mate-.*|cinnamon.*|sway|i3|hyprland|niri|labwc|openbox|Xorg|Xwayland|kitty|alacritty|foot|footclient|wezterm.*|ghostty|xterm|urxvtd?|rxvt.*|terminator|tilix|lxterminal|qterminal|containerd-shim.*|conmon|tini|dumb-init|docker-init|catatonit)$/i;

export interface ProcessFacts {
  readonly pid: number;
  readonly start: string;
  readonly ppid: number;
  /** Leads a session that has a terminal: what a person types into. */
  readonly interactive: boolean;
  /** Empty where it can't be read. */
  readonly exe: string;
  readonly argv: readonly string[];
}

export type ReadProcess = (pid: number) => ProcessFacts | undefined;

/** This process as the one that asks, with the programs above it that act for the agent. Read early: a parent may go. */
export function askedBySelf(read: ReadProcess = readProc): AskedBy {
  const { pid, boot_id = '', start_time = '' } = selfIdentity();
  return { boot_id, pid, start: start_time, hosts: hostsOf(pid, read) };
}

/** Another process of this machine as the one that asks: a relay. Undefined when it is gone. */
export function askedByProcess(pid: number, read: ReadProcess = readProc): AskedBy | undefined {
  const found = read(pid);
  return found && { boot_id: selfIdentity().boot_id ?? '', pid, start: found.start, hosts: hostsOf(pid, read) };
}

/**
 * Whoever is at the other end of a TCP connection as the one that asks. Where that is another machine, or an account that can't open
 * this Writ home, there is no process to compare with, and only what hangs under this process itself is taken for the agent's.
 */
export function askedByConnection(ends: ConnectionEnds, read: ReadProcess = readProc): AskedBy {
  const peer = connectionPeer(ends);
  if (peer.type === 'hidden') return NOT_TO_BE_FOUND;
  if (peer.type === 'elsewhere') return { ...askedBySelf(read), hosts: [] };
  const [first, ...others] = peer.pids.flatMap((pid) => askedByProcess(pid, read) ?? []);
  if (first === undefined) return NOT_TO_BE_FOUND;
  return { ...first, hosts: [...(first.hosts ?? []), ...others.flatMap(({ pid, start, hosts = [] }) => [{ pid, start }, ...hosts])] };
}

/** Compares with nothing: nobody can be told apart from it, and answers come from the page. */
const NOT_TO_BE_FOUND: AskedBy = { boot_id: '', pid: 0, start: '' };

/**
 * The parent, the one behind it where that only launches, and whatever of the same program is above that one (the main process of an
 * editor). A shell that a person types into is nobody's host, and neither is what starts everything.
 */
export function hostsOf(pid: number, read: ReadProcess): readonly ProcessRef[] {
  const hosts: ProcessFacts[] = [];
  let found: ProcessFacts | undefined;
  for (const each of ancestorsOf(pid, read)) {
    if (each.interactive || each.pid === 1 || isStarter(each) || hosts.length >= MOST_HOSTS) break;
    if (found !== undefined && (found.exe === '' || each.exe !== found.exe)) break;
    hosts.push(each);
    if (!isLauncher(each)) found = each;
  }
  return hosts.map(({ pid: id, start }) => ({ pid: id, start }));
}

/** Whether a process is the one that asked, or hangs under it or its host. `undefined`: that can't be found out. */
export function actsFor(pid: number, asked: AskedBy, read: ReadProcess = readProc): boolean | undefined {
  // After a restart of the machine every number may belong to anybody, but then no question is open either.
  if (asked.boot_id === '' || selfIdentity().boot_id !== asked.boot_id) return undefined;
  const self = read(pid);
  if (self === undefined) return undefined;
  const line = [self, ...ancestorsOf(pid, read)];
  const agents = [asked, ...(asked.hosts ?? [])];
  if (line.some((each) => agents.some((agent) => agent.pid === each.pid && agent.start === each.start))) return true;
  // A line that doesn't reach the first process was cut off somewhere: by hidden processes, or by a parent that just ended.
  return line.at(-1)?.ppid === 0 ? false : undefined;
}

function ancestorsOf(pid: number, read: ReadProcess): readonly ProcessFacts[] {
  const line: ProcessFacts[] = [];
  let at = read(pid)?.ppid ?? 0;
  while (at > 0 && line.length < DEEPEST) {
    const each = read(at);
    if (each === undefined) break;
    line.push(each);
    at = each.ppid;
  }
  return line;
}

function isStarter({ exe, argv }: ProcessFacts): boolean {
  return STARTERS.test(basename(exe)) || (exe === '' && STARTERS.test(basename(argv[0]?.replace(/[: ].*$/, '') ?? '')));
}

function isLauncher({ exe, argv }: ProcessFacts): boolean {
  return LAUNCHERS.has(basename(exe)) || LAUNCHER_SCRIPTS.test(argv[1] ?? '') || /^(npm|npx|pnpm|yarn) /.test(argv[0] ?? '');
}

export function readProc(pid: number): ProcessFacts | undefined {
  let fields: string[];
  let argv: string[] = [];
  let exe = '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold spaces and brackets, so fields are counted from the last one.
    fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
  try {
    argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, MOST_WORDS);
    exe = readlinkSync(`/proc/${pid}/exe`);
  } catch {
    // Of another user: where it stands in the tree is known all the same.
  }
  const [, ppid, , session, terminal] = fields;
  const start = fields[19];
  if (ppid === undefined || start === undefined) return undefined;
  return { pid, start, ppid: Number(ppid), interactive: session === String(pid) && terminal !== '0', exe, argv };
}
