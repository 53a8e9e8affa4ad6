import { spawn } from 'node:child_process';
import { connect } from './client.ts';
import { interleaved, type Row } from './row.ts';

const ROUNDS = 15;

/** From starting `writ mcp` to the first answer to tools/list. */
export async function startup(workspace: string, home: string): Promise<Row> {
  const ours = async (): Promise<number> => {
    const since = performance.now();
    const client = await connect(workspace, home);
    await client.request('tools/list', {});
    const took = performance.now() - since;
    await client.close();
    return took;
  };
  const floor = async (): Promise<number> => {
    const since = performance.now();
    await new Promise((done) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).on('close', done));
    return performance.now() - since;
  };
  return {
    what: '`writ mcp` start to first tools/list',
    against: '`node -e 0`',
    target: 8,
    rounds: ROUNDS,
    ...(await interleaved(ROUNDS, ours, floor)),
  };
}
