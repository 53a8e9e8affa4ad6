import { type ChildProcess, spawn } from 'node:child_process';
import { type Inlets, inletPorts, MAKE_INLETS, type NetworkPlan, PARKING_PORT, receiveInlets, SERVE_PORTS } from '../network/inlets.ts';
import type { Engine } from './types.ts';

const NSENTER = '/usr/bin/nsenter';

export interface OpenedInlets {
  readonly inlets: Inlets;
  /** Ends the helper of published ports, where there is one. */
  close(): void;
}

/**
 * The sockets that a run finds on its loopback, made from outside by a process that enters the network of the container and nothing
 * else of it, before any code of the run exists: an image need hold no program for that. A string says why there are none.
 */
export async function openInlets(init: number, engine: Engine, network: NetworkPlan | undefined): Promise<OpenedInlets | string> {
  if (network === undefined) return { inlets: new Map(), close: () => undefined };
  const maker = enter(init, engine, [MAKE_INLETS, ...inletPorts(network).map(String)]);
  let said = '';
  maker.stderr?.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(0, 500);
  });
  const inlets = await receiveInlets(maker, network);
  if (inlets === undefined) return `the network of the container could not be entered: ${said.trim()}`;
  if (network.ports.length === 0) return { inlets, close: () => undefined };
  // It stays, and ends with us too, whatever ends us.
  const helper = enter(init, engine, [`process.on("disconnect", () => process.exit(0)); ${SERVE_PORTS}`, String(PARKING_PORT)]);
  helper.on('error', () => undefined);
  return { inlets, close: () => void helper.kill('SIGKILL') };
}

function enter(init: number, { rootless }: Engine, program: readonly string[]): ChildProcess {
  // The network of an engine without root belongs to its user namespace, whose owner we are.
  const namespaces = rootless ? ['--user', '--preserve-credentials', '--net'] : ['--net'];
  return spawn(NSENTER, [`--target=${init}`, ...namespaces, '--', process.execPath, '--eval', ...program], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
