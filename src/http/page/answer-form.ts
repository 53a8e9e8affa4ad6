import type { ApprovalRecord, GrantScope, Reply } from '../../approvals/types.ts';
import type { Opening } from '../../policy/types.ts';
import { textOf } from './form.ts';
import { GRANT_HOURS, UNCONTAINED } from './question.ts';

export interface FormAnswer {
  readonly reply: Reply;
  readonly remember?: { readonly scope: GrantScope; readonly ttl_ms: number };
}

const MAX_NOTE = 500;
const MAX_HOSTS = 100;
const HOUR = 3_600_000;

/** What a person chose; or, for what no form of ours says or what is missing, words about it. */
export function readAnswer(form: FormData, { card }: ApprovalRecord): FormAnswer | { readonly problem: string } {
  const decision = form.get('decision');
  const note = textOf(form, 'note').slice(0, MAX_NOTE).trim();
  const words = note === '' ? {} : { note };
  if (decision === 'deny') return { reply: { decision: 'deny', ...words } };
  if (decision !== 'approve' && decision !== 'remember') return { problem: 'No answer was given.' };

  const word = textOf(form, 'word').trim();
  const opens = card.opens.map((opening, index) => kept(form, opening, index));
  if (card.opens.some((opening, index) => opening.type === 'uncontained' && opens[index] === undefined)) {
    return { problem: 'Nothing was decided: a yes to this needs the box that says “without containment”.' };
  }
  const all = opens.every((opening, index) => JSON.stringify(opening) === JSON.stringify(card.opens[index]));
  const reply: Reply = {
    decision: 'approve',
    ...words,
    ...(word === '' ? {} : { word }),
    ...(all ? {} : { opens: opens.filter((opening) => opening !== undefined) }),
  };
  if (decision === 'approve') return { reply };
  const scope = card.grants[Number(textOf(form, 'grant'))];
  const hours = Number(textOf(form, 'hours'));
  if (scope === undefined || !GRANT_HOURS.includes(hours))
    return { problem: 'Nothing was decided: what should be remembered is not one of the choices.' };
  return { reply, remember: { scope, ttl_ms: hours * HOUR } };
}

/** What is left of one opening; undefined: nothing. */
function kept(form: FormData, opening: Opening, index: number): Opening | undefined {
  const name = `open.${index}`;
  if (opening.type !== 'hosts') return form.get(opening.type === 'uncontained' ? UNCONTAINED : name) === 'keep' ? opening : undefined;
  const hosts = textOf(form, name)
    .split(/[\s,]+/)
    .filter((host) => host !== '')
    .slice(0, MAX_HOSTS);
  const wanted = form.getAll(`${name}.preset`);
  const presets = opening.presets.filter((preset) => wanted.includes(preset));
  return hosts.length + presets.length === 0 ? undefined : { type: 'hosts', hosts, presets };
}
