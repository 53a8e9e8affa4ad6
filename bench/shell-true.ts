import { spawn } from 'node:child_process';
import { connect } from './client.ts';
import { interleaved, type Row } from './row.ts';

const ROUNDS = 30;

/** The namespaces and mounts of a plain contained run, without Writ around them. */
const BUBBLEWRAP = [
  'bwrap',
  ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup'],
  ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv', '--setenv', 'PATH', '/usr/bin:/bin'],
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
  ...['--ro-bind', '/etc', '/etc', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
];

/** One call after the other over MCP: assessed, decided, recorded, contained, seen dead. */
export async function shellTrue(workspace: string, home: string): Promise<Row> {
  const client = await connect(workspace, home);
  const ours = async (): Promise<number> => {
    const since = performance.now();
    const answer = (await client.request('tools/call', { name: 'shell', arguments: { command: 'true' } })) as { isError?: boolean };
    if (answer.isError) throw new Error(`shell refused: ${JSON.stringify(answer)}`);
    return performance.now() - since;
  };
  const floor = async (): Promise<number> => {
    const since = performance.now();
    const argv = [...BUBBLEWRAP.slice(1), '--bind', workspace, workspace, '--chdir', workspace, 'bash', '-c', 'true'];
    const code = await new Promise((done) => spawn(BUBBLEWRAP[0] ?? '', argv, { stdio: 'ignore' }).on('close', done));
    if (code !== 0) throw new Error(`bubblewrap ended with ${code}`);
    return performance.now() - since;
  };
  const times = await interleaved(ROUNDS, ours, floor);
  await client.close();
  return {
    what: 'contained `shell` of `true` over MCP, one after another',
    against: 'bubblewrap with the same namespaces + bash',
    target: 1.3,
    rounds: ROUNDS,
    ...times,
  };
}
