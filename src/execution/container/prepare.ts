import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { checkMounts } from '../containment/check-mounts.ts';
import type { NotPrepared, Prepared, PrepareInput, PrepareParts } from '../running/prepare.ts';
import type { ProcessIdentity, TeardownReport } from '../types.ts';
import { startContainer } from './box.ts';
import { containerGroup } from './group.ts';
import { openInlets } from './inlets.ts';
import { makePipes } from './pipes.ts';
import { writableByMistake } from './submounts.ts';

type Parts = Pick<PrepareParts, 'clock' | 'scratch'> & { readonly supervisor: ProcessIdentity };

/** As `prepare` of running/, with an engine in place of bubblewrap. */
export async function prepareContainer(request: PrepareInput, parts: Parts): Promise<Prepared | NotPrepared> {
  const { plan, marker } = request;
  if (!plan.container) throw new AppError('internal', 'This plan is not one for a container.');
  if (request.pty !== undefined || request.stdin === 'open') return refused('a container has no terminal and no input that stays open');
  const pipes = await makePipes(join(parts.scratch, `box-${marker}`), request.stdin);
  const box = await startContainer({ plan, container: plan.container, marker, pipes, parts, stdin: request.stdin !== 'closed' });
  if ('reason' in box) return box;
  const give = async (reason: string): Promise<NotPrepared> => {
    const teardown = await box.tree.end();
    box.release();
    return { reason, teardown };
  };
  const group = containerGroup(box.init.pid, plan.limits);
  const complaint = checkMounts(plan, box.init.pid) ?? writableByMistake(plan.container.binds, box.init.pid);
  if (complaint !== undefined) return give(complaint);
  const opened = await openInlets(box.init.pid, plan.container.engine, plan.network);
  if (typeof opened === 'string') return give(opened);
  box.onEnd(() => {
    group.hits();
    opened.close();
  });
  const limits = { ...group.dimensions, fsize: { state: 'enforced', by: 'prlimit, per file' } } as const;
  return { plan, sandbox: box, ends: { kind: 'pipes', stdout: pipes.stdout, stderr: pipes.stderr }, group, inlets: opened.inlets, limits };
}

const NOTHING: TeardownReport = { verified: true, method: 'none', survivors: [], ms: 0 };

function refused(reason: string): NotPrepared {
  return { reason, teardown: NOTHING };
}
