import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { fullReport } from '../containment/dimensions.ts';
import type { PlanMaker } from '../containment/planner.ts';
import { failures, parseFacts } from '../containment/probe/checks.ts';
import { amongBaits, type ModeResult, ownNamespaces } from '../containment/probe/surroundings.ts';
import type { ExecutionConfig, ProbeMode, SandboxPlan } from '../core-types.ts';
import { identify } from '../running/identity.ts';
import { awaitStarted } from '../running/sandbox.ts';
import { prepareContainer } from './prepare.ts';
import type { Target } from './types.ts';

const DEADLINE_MS = 20_000;
const MAX_FACTS_BYTES = 256 * 1024;
const MAX_DETAIL = 2_000;

const REPORT_IT = 'Do not run commands on this machine until that is understood; please report it with the detail.';

/**
 * One run of Writ's own with the production flags, through the same gate and to the same proof of its end: it tries, inside, what must
 * not work. What comes back are facts of this machine, this engine and this image.
 */
export function probeContainer(
  config: ExecutionConfig,
  mode: ProbeMode,
  target: Target,
  maker: PlanMaker,
  clock: Clock,
): Promise<ModeResult> {
  // Of our namespaces, the one of users may be shared with a container: it is no sign that there is none.
  const namespaces = { ...ownNamespaces(), user: '' };
  const around = { deadline_ms: DEADLINE_MS, namespaces, maker, code: 'backend_unavailable' } as const;
  return amongBaits(config, mode, around, (plan, script) => carryOut(plan, script, target, config, clock));
}

async function carryOut(plan: SandboxPlan, command: string, target: Target, config: ExecutionConfig, clock: Clock): Promise<ModeResult> {
  const supervisor = identify(process.pid);
  if (supervisor === undefined) throw new AppError('containment_unavailable', 'The identity of this process could not be read from /proc.');
  const request = { plan, marker: newId('exec'), stdin: 'closed' } as const;
  const prepared = await prepareContainer(request, { clock, scratch: `${config.home}/gates`, supervisor });
  if ('reason' in prepared)
    return {
      ok: false,
      code: 'backend_unavailable',
      cause: `A container could not be started: ${prepared.reason}.`,
      fix: fixOf(target),
      detail: '',
    };
  const { sandbox, ends } = prepared;
  const timer = setTimeout(() => sandbox.kill(), DEADLINE_MS);
  let text = '';
  if (ends.kind === 'pipes') {
    closeSync(ends.stderr);
    new Socket({ fd: ends.stdout, readable: true, writable: false })
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        if (text.length < MAX_FACTS_BYTES) text += bytes.toString('utf8');
      });
  }
  try {
    sandbox.open({ cwd: plan.cwd, command });
    await awaitStarted(sandbox);
    await sandbox.exit;
  } finally {
    clearTimeout(timer);
  }
  const teardown = await sandbox.tree?.end();
  sandbox.release();
  const facts = parseFacts(text);
  if (facts['finished'] === undefined) {
    return {
      ok: false,
      code: 'backend_unavailable',
      cause: 'The probe in a container did not run to its end.',
      fix: fixOf(target),
      detail: text.slice(0, MAX_DETAIL),
    };
  }
  if (facts['ns_mnt'] === '') {
    const cause = 'Containment can not be checked: the image lacks what the probe needs (bash, coreutils, grep).';
    return {
      ok: false,
      code: 'backend_unavailable',
      cause,
      fix: 'Set sandbox.image to one that has them.',
      detail: text.slice(0, MAX_DETAIL),
    };
  }
  const wrong = [
    ...failures(facts, ownNamespaces(), true, excused(target, plan)),
    ...(teardown?.verified ? [] : ['its end could not be proved']),
  ];
  if (wrong.length > 0) {
    const cause = `${target.engine.kind} runs here but does not contain: ${wrong.join('; ')}.`;
    return { ok: false, code: 'backend_unavailable', cause, fix: REPORT_IT, detail: JSON.stringify(facts).slice(0, MAX_DETAIL) };
  }
  const unknown = facts['nested_userns'] === 'unknown' ? ['nested user namespaces were not tried: the image has no /usr/bin/unshare'] : [];
  const dimensions = fullReport({ ...plan.dimensions, ...prepared.limits });
  return { ok: true, report: { backend: 'container', dimensions, notes: [...plan.notes, ...unknown] } };
}

/** What is no sign of a hole in a container. */
function excused({ named, engine }: Target, plan: SandboxPlan): ReadonlySet<string> {
  const root = plan.container?.flags.some((flag) => flag.startsWith('--user=0:')) === true;
  return new Set([
    ...(engine.rootless ? [] : ['ns_user']),
    // An image has its own accounts.
    ...(named === undefined ? [] : ['shadow']),
    // A small file system in memory, of root's in a container, which is the run where root owns the workspace.
    ...(root ? ['write_dev'] : []),
  ]);
}

function fixOf({ engine, named }: Target): string {
  const image = named === undefined ? '' : ` Try: ${engine.kind} run --rm --network none --entrypoint /bin/bash ${named} --version`;
  return `See what \`${engine.kind} info\` says and whether a container starts at all.${image}`;
}
