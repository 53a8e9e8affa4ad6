import type { FindingKind } from './findings.ts';

/** What gives itself away by its form and not by its words. On the text of views.ts: lower case, nothing hidden in it, single blanks and line breaks. */
export const MARKERS: readonly { readonly kind: FindingKind; readonly pattern: RegExp }[] = [
  // Control tokens of chat formats.
  {
    kind: 'role',
    pattern: /<\|(?:im_|start_|end_|eot_|eom_|begin_|system|user|assistant|endoftext|channel|message|python_tag)[a-z_]{0,30}\|>/,
  },
  { kind: 'role', pattern: /\[\/?inst\]|<<\/?sys>>|<(?:start|end)_of_turn>|\[system\] ?[a-z]|#{2,4} ?(?:system|instruction)s? ?:/ },
  // A closing tag that would end the wrapper of a host, and tags that a host itself writes.
  {
    kind: 'role',
    pattern: /<\/(?:tool_(?:result|response|output|call)s?|function_(?:result|response|call)s?|untrusted[\w-]{0,30}|schema|observation)>/,
  },
  { kind: 'role', pattern: /<\/?(?:system|assistant)[-_](?:reminder|prompt|message|instruction|note)s?>/ },
  { kind: 'role', pattern: /<(?:system|assistant)>\s{0,5}(?:[^<>\s]{1,40}\s{1,3}){2}/ },
  { kind: 'role', pattern: /<(?:important|secret|hidden|admin|override|mandatory|instructions?_for_(?:ai|llm|assistant|model))>/ },
  {
    kind: 'role',
    pattern:
      /\b(?:system|developer|admin(?:istrator)?)(?: (?:message|note|notice|override|instructions?|prompt|policy))? ?: ?(?:you|ignore|disregard|forget|reveal|send|always|never|do not|don't|from now|treat|override|the user|the assistant|call|execute|upload|obey|act|trust|approve)\b/,
  },
  // The forged turn of a model.
  { kind: 'role', pattern: /\bassistant: (?:sure|ok|okay|yes|of course|certainly|from now on|i will|i'll|understood)\b/ },
  { kind: 'addressed', pattern: /(?:^|[.!?>\n] ?|<!--\s?)(?:ai|llm|ai agents?|ai assistants?|language models?|llms) ?: ?[a-z]/ },
  // An image is fetched without a click: any template in its address carries something away. A link needs to name what it carries.
  { kind: 'exfiltration', pattern: /!\[[^\]]{0,200}\]\( ?https?:\/\/[^)\s]{0,500}[?&/=](?:[^)\s]{0,200})(?:\$\{|\{\{|<[a-z]|%7b%7b)/ },
  {
    kind: 'exfiltration',
    pattern:
      /\]\( ?https?:\/\/[^)\s]{0,500}(?:\$\{|\{\{)[^)}]{0,60}(?:env|key|token|secret|passw|conversation|history|context|prompt|chat|memory)/,
  },
  // A command that sends a file away.
  {
    kind: 'exfiltration',
    pattern: /https?:\/\/[^\s"']{0,300}[?&/=](?:\$\(|`) ?(?:cat|env|printenv|base64|head|tail|curl|gh|git|history)\b/,
  },
  {
    kind: 'exfiltration',
    pattern: /\b(?:curl|wget|nc)\b[^|]{0,200}(?:@|< ?)~?\/?[\w./-]{0,60}(?:\.ssh|\.aws|\.netrc|\.env|id_rsa|etc\/passwd|etc\/shadow)/,
  },
  {
    kind: 'exfiltration',
    pattern:
      /\b(?:send|upload|post|forward|transmit|exfiltrate|e-?mail|submit|append|copy|leak)\b[\s\S]{0,80}\b(?:conversation|chat history|chat log|transcript|all files|file list|home directory|system prompt|secrets|passwords|credentials|private keys?|previous messages|whole repository)\b[\s\S]{0,60}\b(?:to|at)\s[\s\S]{0,20}(?:https?:\/\/|[\w-]{1,60}\.(?:example|com|net|org|io|dev|xyz|app|site|top|info)\b)/,
  },
  // "instructions" and "system prompt" backwards and in ROT13: nobody writes them by chance.
  { kind: 'encoded', pattern: /snoitcurtsni|tpmorp metsys|vafgehpgvbaf|flfgrz cebzcg/ },
];

/** A dialogue that goes on: a turn of a person and after it one of the model, each a line of several words. */
export function forgedDialogue(text: string): boolean {
  const person = /^[ \t>*]{0,8}(?:human|user) ?:[ \t]{0,8}\S{1,80}[ \t]{1,8}\S{1,80}[ \t]{1,8}\S/im.exec(text);
  return (
    person !== null && /^[ \t>*]{0,8}(?:assistant|ai) ?:[ \t]{0,8}\S{1,80}[ \t]{1,8}\S{1,80}[ \t]{1,8}\S/im.test(text.slice(person.index))
  );
}
