import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { copyFresh, describePath, give, put, unlock } from './files.ts';
import { hostFor } from './host.ts';

/** What the attempts are after: files, listeners and a process outside of every sandbox, all of them holding one secret. */
export interface Outside {
  readonly base: string;
  readonly out: string;
  readonly secret: string;
  /** The uid that runs are dropped to. */
  readonly drop: number | undefined;
  /** For the scripts. */
  readonly variables: Readonly<Record<string, string>>;
  random(): string;
  /** Everything as at the beginning. */
  reset(): void;
  /** What is different from the beginning. */
  changes(): { readonly files: readonly string[]; readonly contacts: number; readonly victim_dead: boolean };
  close(): Promise<void>;
}

/** Not put back, not compared: the listeners' places, and Writ's own. */
const KEPT: ReadonlySet<string> = new Set(['.sockets', '.writ']);

const random = (): string => randomBytes(8).toString('hex');

/** `uid`: for root only, whose Workspaces they are. */
export async function makeOutside(uid: number | undefined): Promise<Outside & { readonly user_home: string; readonly writ_home: string }> {
  const self = process.getuid?.() ?? -1;
  // Below the real /tmp on purpose, which a run sees its own of.
  const base = realpathSync(mkdtempSync('/tmp/writ-escape-'));
  chmodSync(base, 0o711);
  const secret = `secret${random()}`;
  const out = join(base, 'out');
  const user_home = join(base, 'people/dev');
  const writ_home = join(user_home, '.writ');
  const pristine = join(base, 'pristine');
  const files: Readonly<Record<string, string>> = {
    'out/secret': secret,
    'out/settings.json': '{}',
    'home/.ssh/id_ed25519': secret,
    'home/.bashrc': '# nothing\n',
    'home/.gitconfig': '[user]\n\tname = Dev\n\temail = dev@example.org\n',
  };
  for (const [path, text] of Object.entries(files)) put(join(pristine, path), text);
  for (const folder of [join(base, 'work'), out, writ_home]) mkdirSync(folder, { recursive: true });
  chmodSync(writ_home, 0o700);
  writeFileSync(join(writ_home, 'key'), secret);
  const sockets = [join(user_home, '.sockets/agent'), join(out, '.sockets/docker')];
  const runFolder = self === 0 ? mkdtempSync('/run/writ-escape-') : undefined;
  if (runFolder !== undefined) {
    chmodSync(runFolder, 0o755);
    sockets.push(join(runFolder, 'docker.sock'));
  }
  const shm = `/dev/shm/writ-escape-${random()}`;
  writeFileSync(shm, secret, { mode: 0o644 });

  let contacts = 0;
  const servers: Server[] = [];
  const listen = async (where: ListenOptions): Promise<number> => {
    const server = createServer((socket) => {
      contacts += 1;
      socket.on('error', () => {});
      socket.end(secret);
    });
    await new Promise<void>((done, failed) => server.once('error', failed).listen(where, done));
    servers.push(server);
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  };
  const { ipv6 } = hostFor(uid).has;
  const abstract = `writ-escape-${random()}`;
  const tcp4 = await listen({ host: '127.0.0.1', port: 0 });
  const tcp6 = ipv6 ? await listen({ host: '::1', port: 0 }) : 0;
  await listen({ path: `\0${abstract}` });
  const udp = createSocket('udp4', () => {
    contacts += 1;
  });
  await new Promise<void>((done) => udp.bind(0, '127.0.0.1', done));

  const identity = uid === undefined ? {} : { uid, gid: uid };
  const shared = execFileSync(
    'perl',
    ['-e', 'my $id = shmget(0, 64, 0600) // die "$!"; shmwrite($id, $ARGV[0], 0, 64) or die "$!"; print $id', secret],
    { ...identity, encoding: 'utf8' },
  );
  let victim = startVictim(secret, out, identity);
  const variables: Record<string, string> = {
    OUT: out,
    PERSON: user_home,
    WRIT: writ_home,
    SUPERVISOR: String(process.pid),
    TCP4: String(tcp4),
    TCP6: String(tcp6),
    UDP: String(udp.address().port),
    ABSTRACT: `@${abstract}`,
    SOCKET_HOME: sockets[0] ?? '',
    SOCKET_OUT: sockets[1] ?? '',
    SOCKET_RUN: sockets[2] ?? '/run/none',
    SHM_FILE: shm,
    SHM_ID: shared,
  };
  const watched = { out, home: user_home };
  // The Writ home works while runs do; what the attempts would change there has a name.
  const look = (): ReadonlySet<string> =>
    new Set([
      ...Object.entries(watched).flatMap(([name, folder]) => describePath(folder, name, KEPT)),
      ...['key', 'planted'].flatMap((name) => describePath(join(writ_home, name))),
    ]);
  let before: ReadonlySet<string> = new Set();

  const outside = {
    base,
    out,
    secret,
    drop: uid,
    user_home,
    writ_home,
    variables,
    random,
    reset() {
      contacts = 0;
      for (const [name, folder] of Object.entries(watched)) {
        for (const made of copyFresh(join(pristine, name), folder, KEPT)) give(made, uid);
        if (uid !== undefined) chownSync(folder, uid, uid);
      }
      rmSync(join(writ_home, 'planted'), { force: true });
      if (isDead(victim)) victim = startVictim(secret, out, identity);
      variables['VICTIM'] = String(victim.pid);
      before = look();
    },
    changes() {
      const now = look();
      return {
        files: [
          ...[...now].filter((line) => !before.has(line)),
          ...[...before].filter((line) => !now.has(line)).map((line) => `gone: ${line}`),
        ],
        contacts,
        victim_dead: isDead(victim),
      };
    },
    async close() {
      victim.kill('SIGKILL');
      udp.close();
      for (const server of servers) server.close();
      execFileSync('perl', ['-e', 'shmctl($ARGV[0], 0, 0)', shared]);
      for (const path of [shm, ...(runFolder === undefined ? [] : [runFolder])]) rmSync(path, { recursive: true, force: true });
      unlock(base);
      rmSync(base, { recursive: true, force: true });
    },
  };
  outside.reset();
  for (const path of sockets) {
    // Where listeners are when a reset has put the folders back.
    mkdirSync(dirname(path), { recursive: true });
    await listen({ path });
    chmodSync(path, 0o777);
  }
  return outside;
}

/** Somebody else's process of the same user, with a secret in its environment and an open file. */
function startVictim(secret: string, out: string, identity: { uid?: number; gid?: number }): ChildProcess {
  return spawn('/bin/sleep', ['1000'], { ...identity, cwd: out, env: { VICTIM_SECRET: secret }, stdio: 'ignore' });
}

/** Dead, or killed and only not yet run to its end: what a SIGKILL hit lets it do no more than a zombie does. */
function isDead(child: ChildProcess): boolean {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return (
      /^State:\t[ZX]/m.test(status) ||
      [...status.matchAll(/^(?:SigPnd|ShdPnd):\t(\w+)$/gm)].some(([, mask]) => (BigInt(`0x${mask}`) & KILLED) !== 0n)
    );
  } catch {
    return true;
  }
}

const KILLED = 1n << 8n;
