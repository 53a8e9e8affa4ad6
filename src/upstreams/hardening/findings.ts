/** What a scan can find. Each is advice to a person: marking foreign text as untrusted is the first line, this is the second. */
export const FINDINGS = {
  override: 'tells the reader to drop its instructions',
  role: 'pretends to be the system or a person of the conversation',
  identity: 'gives the reader another role or lifts its limits',
  consent: 'claims that a person agreed, or says not to ask one',
  concealment: 'asks to hide something from the user',
  secrets: 'asks for secrets or private files',
  exfiltration: 'asks to send things elsewhere, or is a link that carries them away',
  other_tools: 'gives orders about tools that are not its own',
  addressed: 'is addressed to language models instead of people',
  gate: 'asks to weaken the safety checks',
  encoded: 'holds an encoded order',
  hidden: 'holds characters that hide text',
  look_alikes: 'holds words in which letters of other scripts pass for Latin ones',
  unscanned: 'is too long to be looked through whole',
} as const;

export type FindingKind = keyof typeof FINDINGS;

export interface Finding {
  readonly kind: FindingKind;
  /** The words that gave it away, as they were read: folded, decoded, on one line, safe to print; at most 160 characters. */
  readonly excerpt: string;
}
