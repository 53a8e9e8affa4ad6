import type { Exchange, ScriptedModel } from '../model/scripted-model.ts';
import { ENDED, jobIn, LINES, REFUSED } from './conversation.ts';
import type { WayIn } from './way-in.ts';
import type { WritRecord } from './writ-record.ts';

/** What must be true after a host has ended. Each says what is wrong, or nothing. */
export interface Check {
  readonly what: string;
  readonly problem: string | undefined;
}

export function labelled(exchanges: readonly Exchange[], label: string): readonly Exchange[] {
  return exchanges.filter((exchange) => exchange.call.label === label);
}

export function checkConversation(model: ScriptedModel, workspace: string): readonly Check[] {
  const text = (label: string): string =>
    labelled(model.exchanges, label)
      .map((exchange) => exchange.text)
      .join('\n');
  const holds = (what: string, label: string, ...wanted: readonly (string | RegExp)[]): Check => {
    const missing = wanted.filter((each) => (typeof each === 'string' ? !text(label).includes(each) : !each.test(text(label))));
    return { what, problem: missing.length === 0 ? undefined : `${label} lacks ${missing.join(', ')}` };
  };
  const id = (label: string): string => jobIn(labelled(model.exchanges, label)[0] ?? { text: '', marked: undefined });
  return [
    {
      what: 'the script came to its end',
      problem: model.finished ? undefined : (model.trouble ?? `after ${model.exchanges.length} calls`),
    },
    holds('shell: both streams, the exit code, the right folder', 'shell', 'hello from 42', 'to stderr', workspace, /exit(_code":)? ?3\b/),
    holds(
      'refusal: code, reason, the rule that would allow it',
      'refusal',
      'no_channel',
      'network_egress',
      /\\*"argv\\*": ?\[\\*"curl\\*", ?\\*"https:\/\/example.com/,
    ),
    holds('wrong argument: says which and why', 'wrong argument', 'cwd', 'outside the Workspace'),
    holds(
      'long output: start, end, that it was cut and how to read on',
      'long output',
      '1\n2\n3'.replaceAll('\n', text('long output').includes('1\\n2') ? '\\n' : '\n'),
      `${LINES}`,
      'shell_output',
      'cursor',
    ),
    holds('job: its result is picked up', 'job output', id('job'), 'the answer is 42', /exited.{1,60}5|exit_code":5/s),
    holds('announcement: the end of another job is told unasked', 'announcement', ENDED, 'a quick one'),
  ];
}

export function checkRecord(record: WritRecord, model: ScriptedModel): readonly Check[] {
  const problem = (bad: boolean, why: string): string | undefined => (bad ? why : undefined);
  // Hosts list resources of their own accord, which is recorded as the job_list that it is; the script never calls that.
  const calls = model.exchanges.filter(({ call }) => call.label !== 'host').length;
  const recorded = record.actions.filter(({ tool }) => tool !== 'job_list').length;
  return [
    { what: 'writ audit verify', problem: problem(!record.verified, record.verify_text) },
    {
      what: 'writ job list shows both jobs, ended',
      problem: problem(!/exited with 5[\s\S]*|a quick one/.test(record.jobs) || /running/.test(record.jobs), record.jobs),
    },
    { what: 'the audit names every call', problem: problem(recorded !== calls, `${calls} calls, ${recorded} actions`) },
    { what: 'the refused command is recorded as refused', problem: problem(!record.refused.includes(REFUSED), record.refused.join('; ')) },
    { what: 'no process is left', problem: problem(record.left.length > 0, record.left.join('\n')) },
  ];
}

/** Through `writ up`, and for an agent with a token, without anybody having seen that. */
export function checkWay({ up, token, printed }: WayIn, record: WritRecord, model: ScriptedModel): readonly Check[] {
  const checks: Check[] = [];
  if (up !== undefined) {
    const others = record.deciders.filter((pid) => pid !== up.child.pid);
    const problem =
      others.length > 0 ? `another process did: ${others.join(', ')}` : record.deciders.length === 0 ? 'nobody did' : undefined;
    checks.push({ what: '`writ up` decided every call', problem });
  }
  if (token !== undefined) {
    const seen = printed.includes(token) ? 'it is in the printed configuration' : model.wasTold(token) ? 'the model saw it' : undefined;
    checks.push({ what: 'the token is in its file alone', problem: seen });
  }
  return checks;
}
