import { newId } from '../../kernel/ids.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { FilePlace, FilesAs } from '../files/types.ts';
import { identify } from '../running/identity.ts';
import { callEngine, ENGINES, findEngine } from './engine.ts';
import { findTarget } from './image.ts';
import { mountFlags } from './mount-flags.ts';
import { containerName, HOME_LABEL, homeTag } from './names.ts';
import { fixedFlags, userFlags } from './plan.ts';
import { forgetContainer, recordContainer } from './records.ts';
import type { Target } from './types.ts';

const MEMORY = '1024m';

/** A program of Writ's own in a container that holds one place, read-only. */
export interface SearchBox {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** To be awaited when it is over, however it ended: its client may have gone before it. */
  remove(): Promise<void>;
}

export type MakeSearchBox = (search: {
  readonly rg: string;
  readonly place: Extract<FilePlace, { kind: 'bind' }>;
  readonly as: FilesAs;
  readonly folder: string;
  readonly args: readonly string[];
}) => Promise<SearchBox>;

/** The engine and the image are looked up once, and again after a failure. */
export function createSearchBoxes(
  config: Pick<ExecutionConfig, 'home' | 'host_env' | 'user_home' | 'container'>,
  inside: string,
): MakeSearchBox {
  let target: Promise<Target> | undefined;
  const find = async (): Promise<Target> => {
    const { engines = ENGINES, image } = config.container ?? {};
    const engine = await findEngine({ candidates: engines, host_env: config.host_env, user_home: config.user_home });
    return findTarget(engine, image, config.home, Date.now());
  };
  return async ({ rg, place, as, folder, args }) => {
    target ??= find();
    target.catch(() => {
      target = undefined;
    });
    const { engine, image, seccomp } = await target;
    const self = identify(process.pid) ?? { boot_id: '', pid: process.pid, start: '0' };
    const name = containerName(self, newId('exec'));
    recordContainer(config.home, name);
    return {
      program: engine.path,
      env: engine.env,
      argv: [
        ...engine.options,
        ...['run', '--rm', `--name=${name}`, `--label=${HOME_LABEL}=${homeTag(config.home)}`],
        ...fixedFlags(engine, seccomp.plain),
        ...[`--memory=${MEMORY}`, '--pids-limit=64', '--ulimit=core=0:0', '--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'],
        ...userFlags(engine, as),
        ...mountFlags([
          { kind: 'bind', source: place.host, dest: place.inside, access: 'read' },
          { kind: 'bind', source: rg, dest: inside, access: 'read' },
        ]),
        ...[`--workdir=${folder}`, '--env=LANG=C.UTF-8', `--entrypoint=${inside}`, image, ...args],
      ],
      async remove() {
        await callEngine(engine, ['rm', '--force', '--volumes', name]);
        forgetContainer(config.home, name);
      },
    };
  };
}
