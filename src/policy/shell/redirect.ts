import { networkOf } from '../hosts.ts';
import type { Subject } from '../session.ts';
import { HOLE, isKnown, type Text } from '../text.ts';
import type { Scene } from './flow.ts';
import type { Cell, Interpreter, Redirector } from './parts.ts';

import { withEntry } from './state.ts';
import { eitherStream, LOCAL, type Stream, thenStream } from './stream.ts';

const SOCKET = /^\/dev\/(tcp|udp)\/([^/]*)/;
const NETWORK: Stream = { origin: 'network' };

export function createRedirector(host: Interpreter): Redirector {
  return {
    open: (redirects, cell, scene) => {
      if (redirects.length === 0) return { state: cell.state, scene, captured: false, keeps: () => true, wrote: (files) => files };
      let { stdin } = scene;
      let captured = false;
      const writes: { readonly path: Text; readonly append: boolean }[] = [];
      for (const redirect of redirects) {
        const subject: Subject = {
          span: cell.frame.span ?? [redirect.pos, Math.min(redirect.end, cell.frame.source.length)],
          argv: [cell.frame.source.slice(redirect.pos, redirect.end)],
          index: undefined,
        };
        const fd = redirect.descriptor?.type === 'FileDescriptor' ? redirect.descriptor.value : undefined;
        if (redirect.descriptor?.type === 'FileDescriptorVariable') host.expander.set(redirect.descriptor.name, ['10'], cell);
        if (redirect.type === 'HereDoc') {
          if (fd === undefined || fd === 0) stdin = { origin: 'local', text: host.expander.hereDoc(redirect, cell) };
          else host.expander.hereDoc(redirect, cell);
          continue;
        }
        const expand = redirect.operator === '<<<' ? host.expander.texts : host.expander.file;
        const targets = redirect.target === undefined ? [HOLE] : expand(redirect.target, cell);
        if (redirect.operator === '<<<') {
          const text = targets.length === 1 ? (targets[0] ?? '') : HOLE;
          if (fd === undefined || fd === 0) stdin = { origin: text.includes('\uFDD1') ? 'network' : 'local', text: `${text}\n` };
          continue;
        }
        for (const path of targets) {
          const socket = SOCKET.exec(path);
          const { operator } = redirect;
          const duplicate = (operator === '<&' || operator === '>&') && /^(\d+|-|\d+-)$/.test(path);
          if (duplicate) {
            const source = cell.state.fds.get(Number.parseInt(path, 10));
            if (source !== undefined && (operator === '<&' || fd === 0)) stdin = (fd ?? 0) === 0 ? source : stdin;
            if (source !== undefined && fd !== undefined) cell.state = { ...cell.state, fds: withEntry(cell.state.fds, fd, source) };
            continue;
          }
          if (socket !== null) {
            const { local } = networkOf([socket[2] ?? '']);
            if (!local)
              host.report(subject, scene, 'network_egress', 'opens a network connection', {
                opens: { type: 'hosts', hosts: [socket[2] ?? ''].filter(isKnown), presets: [] },
              });
            const at = fd ?? (operator.startsWith('<') ? 0 : 1);
            if (at === 0) stdin = NETWORK;
            const both = operator === '>&' || operator === '&>' || operator === '&>>';
            for (const number of both ? [1, 2] : [at]) cell.state = { ...cell.state, fds: withEntry(cell.state.fds, number, NETWORK) };
            if (at === 1) captured = true;
            continue;
          }
          const reads = operator === '<' || operator === '<>' || operator === '<&';
          if (reads) {
            const known = readPath(path, cell, scene, subject);
            if (fd === undefined || fd === 0) stdin = known ?? LOCAL;
            else cell.state = { ...cell.state, fds: withEntry(cell.state.fds, fd, known ?? LOCAL) };
          }
          if (operator !== '<' && operator !== '<&') {
            for (const { effect, reason, ...more } of host.paths.write(path, cell.state.cwd))
              host.report(subject, scene, effect, reason, more);
            const output = fd === undefined ? operator !== '<>' : fd === 1;
            if (output) {
              captured = true;
              writes.push({ path, append: operator.endsWith('>>') });
            } else writes.push({ path, append: true });
          }
        }
      }
      const { state } = cell;
      return {
        state,
        scene: { ...scene, stdin },
        captured: captured && !writes.some(({ path }) => /^\/dev\/(stdout|stderr|tty)$/.test(path)),
        keeps: (argv) => argv.length === 1 && argv[0] === 'exec',
        wrote: (files, out) => {
          let next = files;
          for (const { path, append } of writes) {
            if (path.startsWith('/dev/')) continue;
            for (const key of host.paths.key(path, state.cwd)) {
              const before = next.get(key);
              next = withEntry(next, key, append ? (before === undefined ? { origin: out.origin } : thenStream(before, out)) : out);
            }
          }
          return next;
        },
      };
    },
    close: (_plumbing, out) => out,
  };

  function readPath(path: Text, cell: Cell, scene: Scene, subject: Subject): Stream | undefined {
    const process = host.processes.get(path);
    if (process !== undefined) return process;
    for (const { effect, reason, ...more } of host.paths.read(path, cell.state.cwd)) host.report(subject, scene, effect, reason, more);
    return host.paths.key(path, cell.state.cwd).reduce<Stream | undefined>((found, key) => {
      const stream = cell.state.files.get(key);
      return stream === undefined ? found : found === undefined ? stream : eitherStream(found, stream);
    }, undefined);
  }
}
