import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { Server } from 'node:net';
import { GATE_FD } from '../running/launcher.ts';
import type { NetworkSpec } from './allow-list.ts';

/** What of a network a run has, beyond its own loopback. */
export interface NetworkPlan {
  /** Served by a proxy of its own. */
  readonly allow?: NetworkSpec;
  /** Ports of the host's loopback that are the run's at the same number. */
  readonly loopback: readonly number[];
  /** Ports of the run's loopback that are the host's at the same number. */
  readonly ports: readonly number[];
}

/** Inside a run every port is free, so these can be fixed; a plan's key stays the same from run to run. */
export const HTTP_PROXY_PORT = 17_420;
export const SOCKS_PROXY_PORT = 17_421;
/** Where the helper of published ports waits for somebody who wants in. */
export const PARKING_PORT = 17_422;

export const RESERVED_PORTS: readonly number[] = [HTTP_PROXY_PORT, SOCKS_PROXY_PORT, PARKING_PORT];

/** Descriptors of the launcher while it makes them. */
export const CHANNEL_FD = 7;
export const NODE_FD = 8;

export function inletPorts(network: NetworkPlan): readonly number[] {
  return [
    ...(network.allow === undefined ? [] : [HTTP_PROXY_PORT, SOCKS_PROXY_PORT]),
    ...network.loopback,
    ...(network.ports.length === 0 ? [] : [PARKING_PORT]),
  ];
}

/** Makes the sockets where only a process inside can make them, hands them out and ends, before any user code exists. */
export const MAKE_INLETS = `const net = require("node:net");
const ports = process.argv.slice(1).map(Number);
let left = ports.length;
for (const port of ports) {
  const server = net.createServer();
  server.on("error", (error) => { console.error("port " + port + " inside the sandbox: " + error.message); process.exit(1); });
  server.listen(port, "127.0.0.1", () => process.send({ port }, server, (error) => {
    if (error) { console.error(error.message); process.exit(1); }
    server.close();
    left -= 1;
    if (left === 0) process.exit(0);
  }));
}`;

/**
 * Stays, for published ports: connections into the run can only be made inside. It keeps some waiting with the supervisor; one that
 * is told a port connects to it there. It holds no secret and may be killed or imitated by what runs beside it, which owns those ports anyway.
 */
export const SERVE_PORTS = `process.title = "writ-ports";
const net = require("node:net");
const parking = Number(process.argv[1]);
let parked = 0;
const park = () => {
  parked += 1;
  const out = net.connect({ port: parking, host: "127.0.0.1", allowHalfOpen: true });
  let told = false;
  out.on("error", () => out.destroy());
  out.on("close", () => { if (!told) { parked -= 1; setTimeout(fill, 200); } });
  out.once("data", (bytes) => {
    told = true;
    parked -= 1;
    fill();
    out.pause();
    reach(out, bytes.readUInt16BE(0), ["127.0.0.1", "::1"]);
  });
};
const reach = (out, port, hosts) => {
  const app = net.connect({ port, host: hosts[0], allowHalfOpen: true });
  app.once("error", () => {
    if (hosts.length > 1) reach(out, port, hosts.slice(1));
    else out.end(Buffer.from([0]));
  });
  app.once("connect", () => {
    app.removeAllListeners("error");
    for (const [one, other] of [[app, out], [out, app]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => { if (!one.readableEnded) other.destroy(); });
    }
    out.write(Buffer.from([1]));
    app.pipe(out);
    out.pipe(app);
  });
};
const fill = () => { while (parked < 8) park(); };
fill();`;

/** Lines of the launcher, before its limits and before it closes the descriptors that aren't the command's. */
export function inletLines(network: NetworkPlan | undefined): readonly string[] {
  if (network === undefined) return [];
  const node = `/proc/self/fd/${NODE_FD}`;
  return [
    // Through the descriptor the very program of the supervisor runs, wherever it lies and whoever may look there.
    `${node} --eval '${MAKE_INLETS}' ${inletPorts(network).join(' ')} </dev/null >/dev/null || exit 125`,
    `unset -v NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE`,
    // Twice away from this shell, so that neither its jobs nor its `wait` know it.
    ...(network.ports.length === 0
      ? []
      : [`(exec ${GATE_FD}>&- ${CHANNEL_FD}>&-; ${node} --eval '${SERVE_PORTS}' ${PARKING_PORT} </dev/null >/dev/null 2>&1 &)`]),
  ];
}

/** The program for `NODE_FD`. */
export function openNode(): number {
  return openSync('/proc/self/exe', 'r');
}

export type Inlets = ReadonlyMap<number, Server>;

const NO_INLETS: Inlets = new Map();

/** Takes the sockets that the helper sends; undefined when the sandbox ended without them. */
export function receiveInlets(child: ChildProcess, network: NetworkPlan | undefined): Promise<Inlets | undefined> {
  if (network === undefined) return Promise.resolve(NO_INLETS);
  const { promise, resolve } = Promise.withResolvers<Inlets | undefined>();
  const wanted = new Set(inletPorts(network));
  const inlets = new Map<number, Server>();
  const giveUp = (): void => {
    if (inlets.size < wanted.size) closeInlets(inlets);
    resolve(inlets.size < wanted.size ? undefined : inlets);
  };
  child.on('message', (message: { readonly port?: unknown }, handle) => {
    const { port } = message;
    if (!(handle instanceof Server)) return;
    if (typeof port !== 'number' || !wanted.has(port) || inlets.has(port)) return void handle.close();
    inlets.set(port, handle);
    if (inlets.size < wanted.size) return;
    // Nobody inside has anything to say on this channel any more.
    child.disconnect();
    resolve(inlets);
  });
  child.on('disconnect', giveUp);
  child.on('exit', giveUp);
  child.on('error', giveUp);
  return promise;
}

export function closeInlets(inlets: Inlets): void {
  for (const server of inlets.values()) server.close();
}
