import type { ExecutionConfig } from '../core-types.ts';
import { bootId, judge } from '../running/identity.ts';
import { callEngine, ENGINES, findEngine } from './engine.ts';
import { HOME_LABEL, homeTag, supervisorOf } from './names.ts';
import { forgetContainer, recordedContainers } from './records.ts';

/**
 * Removes containers whose supervisor is gone, with all that runs in them; how many there were. Their processes end by themselves when
 * nobody is at the other end of their pipes; what an engine keeps of them stays until it is told. Found by the label of this Writ home,
 * and by no engine at all where no container was ever left. Safe in several processes at once.
 */
export async function sweepContainers(config: ExecutionConfig): Promise<number> {
  const boot_id = bootId();
  if (boot_id === undefined) return 0;
  const isLeft = (name: string): boolean => {
    const supervisor = supervisorOf(name, boot_id);
    return supervisor !== undefined && ['GONE', 'FOREIGN'].includes(judge(supervisor));
  };
  const recorded = recordedContainers(config.home).filter(isLeft);
  if (recorded.length === 0 && config.backend !== 'container') return 0;
  const engine = await findEngine({
    candidates: config.container?.engines ?? ENGINES,
    host_env: config.host_env,
    user_home: config.user_home,
  });
  const list = async (): Promise<readonly string[] | undefined> => {
    const label = `label=${HOME_LABEL}=${homeTag(config.home)}`;
    const answer = await callEngine(engine, ['ps', '--all', '--no-trunc', '--filter', label, '--format', '{{.Names}}']);
    return answer.code === 0 ? answer.stdout.split('\n').filter((line) => line !== '') : undefined;
  };
  const left = ((await list()) ?? []).filter(isLeft);
  if (left.length > 0) await callEngine(engine, ['rm', '--force', '--volumes', ...left]);
  // What still isn't gone is tried again by the next start.
  const still = left.length > 0 ? await list() : [];
  if (still !== undefined) for (const name of recorded) if (!still.includes(name)) forgetContainer(config.home, name);
  return left.length;
}
