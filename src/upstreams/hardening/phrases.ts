import type { FindingKind } from './findings.ts';
import type { Phrase } from './phrase.ts';

/** English, as imperatives: "ignores case", "returns the system prompt" and other descriptions of what a tool does are not orders. */

const IGNORE =
  'ignore|ignoring|disregard|disregarding|forget|neglect|dismiss|do not follow|stop following|no longer follow|do not obey|stop obeying|pay no attention to|set aside|abandon';
const EARLIER = 'previous|previously|prior|earlier|preceding|foregoing|above|past';
const ORDER_NAMES = 'instruction|instructions|directive|directives|guideline|guidelines|prompt|prompts';
const RULE_NAMES = 'rule|rules|orders|commands|directions|constraints|restrictions|programming|training|safeguards|policies|policy|safety';
const TELL = 'mention|tell|inform|let on|bring up|mentioning|telling|informing';
const NOTIFY = 'notify|alert|warn|notifying|alerting|warning';
const USER = 'user|users|human|humans|person|people|operator|owner|anyone|anybody|them';
const NOT = 'do not|don t|never|must not|should not|shall not|without|avoid|refrain from';
const SHELLS = 'shell|bash|terminal|powershell|exec|run command|execute command|run shell|run terminal cmd|read file|write file';
/** Files and folders that hold credentials; views.ts writes ".ssh" as "dotssh". */
const SECRET_PATH =
  'dotssh|id rsa|id ed25519|id ecdsa|id dsa|dotaws|aws credentials|dotnetrc|dotnpmrc|dotpypirc|dotgnupg|dotkube|dotgit credentials|gh hosts yml|etc shadow|etc passwd';
const SECRET_NAMES =
  'api key|api keys|apikey|secret|secrets|password|passwords|passphrase|credentials|access token|auth token|private key|private keys|session token|cookies|environment variables';

const TABLE: readonly { readonly kind: FindingKind; readonly phrases: readonly Phrase[] }[] = [
  {
    kind: 'override',
    phrases: [
      [`${IGNORE}|override|bypass`, 3, EARLIER, 3, ORDER_NAMES],
      [IGNORE, 3, EARLIER, 2, RULE_NAMES],
      [IGNORE, 2, `${ORDER_NAMES}|rules`, 4, 'earlier|before|so far|previously|above|until now|up to now'],
      [IGNORE, 2, 'all|any|your|every|these|those|system|developer|other|current|original|initial', 2, ORDER_NAMES],
      [IGNORE, 1, 'your|system|developer|safety', 1, RULE_NAMES],
      ['drop|lift|abandon|violate', 1, 'safety|ethical', 0, 'rules|guidelines|restrictions|limits|policies'],
      [`${IGNORE}`, 2, 'what|everything|anything|all', 1, 'you|i|they|we', 3, 'told|know|learned|taught|instructed|said'],
      [
        'ignore|disregard|forget',
        2,
        'above|previous|everything before this',
        0,
        'and|but',
        1,
        'instead|do|say|output|print|reply|respond|call|send',
      ],
      [
        EARLIER,
        1,
        'instructions|directives|guidelines|prompts',
        3,
        'void|invalid|obsolete|cancelled|canceled|superseded|revoked|no longer apply|no longer valid',
      ],
      ['end of', 2, 'document|output|results|result|input|data|page|file', 4, 'new instructions|new task|system message|system prompt'],
      ['your new|your real|your actual|your true|your only', 0, 'task|instructions|goal|objective|mission|purpose', 0, 'is|are'],
      [
        'reveal|print|show|output|repeat|display|expose|leak|dump|disclose|share|send|confirm|recite|tell me|give me',
        3,
        'your|hidden',
        2,
        'prompt|prompts|instructions|guidelines|system message',
      ],
      ['reveal|leak|exfiltrate|disclose|divulge', 1, 'the', 0, 'system prompt|hidden prompt|developer message'],
    ],
  },
  {
    kind: 'identity',
    phrases: [
      [
        'you are now|you will now be|you shall be|act as|pretend to be|behave as|roleplay as',
        4,
        '\\S{0,20}gpt|dan|an unrestricted|unrestricted|jailbroken|evil|unfiltered|in developer mode|without limits|without restrictions|without rules',
      ],
      ['you are now|you are no longer', 3, 'ai|assistant|bot|chatbot|language model|system administrator|hacker'],
      ['you have no|you are free of|you are not bound by', 2, 'restrictions|limits|limitations|rules|constraints|guidelines|filters'],
      ['developer|god|jailbreak|dan|admin', 0, 'mode', 1, 'enabled|activated|unlocked'],
      [
        'from now on|from this point on|henceforth|starting now',
        0,
        'you must|you are|you will|you shall|always|never|the assistant|the agent|the model|all responses|answer|respond|every answer',
      ],
      ['you must|you should|you have to|you shall|always', 1, 'obey', 2, 'this|these|the|me|my|all|every|any|it'],
      ['treat', 1, 'every|all|any|each', 6, 'as', 0, 'trusted|safe|approved|authorized|authorised|verified'],
      ['always', 0, 'approve|trust', 2, 'this server|every tool|all tools|everything|these tools|all calls|all requests'],
    ],
  },
  {
    kind: 'consent',
    phrases: [
      [
        'user|human|owner|operator|admin|administrator|they',
        0,
        'has|have',
        0,
        'already',
        0,
        'approved|authorized|authorised|agreed|consented|confirmed|granted|accepted|permitted|allowed',
      ],
      ['user|human|owner|operator', 0, 'already|is already|has already been', 0, 'knows|aware|informed|told|agreed|approved'],
      ['do not|don t|never|no need to', 0, 'ask|wait for|prompt', 3, 'confirmation|approval|permission|consent'],
      ['and', 0, 'retry|run|continue|proceed|execute|repeat', 3, 'without', 0, 'asking|confirming'],
      ['run|execute|call|use', 1, 'commands|command|tools|anything|everything|all', 1, 'without asking'],
    ],
  },
  {
    kind: 'concealment',
    phrases: [
      [NOT, 1, TELL, 5, USER],
      [NOT, 1, NOTIFY, 2, 'user|users|human|humans'],
      [
        'do not|don t|never|must not',
        0,
        'mention|reveal|disclose|report|discuss|acknowledge|show',
        0,
        'it|this|that|any of this|these instructions|this instruction|these steps',
      ],
      [NOT, 0, 'let', 2, USER, 0, 'know|see|notice|find out'],
      ['keep|leave', 1, 'this|it|that|these', 2, 'secret|hidden|unmentioned|between us|from the user'],
      ['hide|conceal', 0, 'this|it|that|these|them|everything', 2, 'from', 1, USER],
      [
        'user|users|human|operator',
        0,
        'must not|must never|does not need to|need not',
        0,
        'know|notice|learn|be told|be informed|find out',
      ],
      [
        'quietly|silently|secretly|covertly|stealthily|discreetly|surreptitiously',
        0,
        'copy|send|upload|read|append|forward|exfiltrate|collect|transmit|insert|email|post|run|execute|call|include|add',
      ],
    ],
  },
  {
    kind: 'secrets',
    phrases: [
      ['content|contents|copy|value|values|text|data', 0, 'of|from|in', 3, SECRET_PATH],
      [
        'read|open|cat|load|fetch|get|copy|take',
        4,
        `${SECRET_PATH}|private key|ssh key|dotenv|env file`,
        6,
        'put|paste|append|attach|pass it|pass them|pass the|include it|include its|include the|send it|send the|insert it|here',
      ],
      [`call|run|use|invoke|execute`, 1, SHELLS, 4, SECRET_PATH],
      ['contents of|content of', 1, 'dotenv|env file|environment variables', 2, 'into|in'],
      [
        'include|append|put|add|insert|paste|print|repeat|embed|attach|output|write|place',
        8,
        `\\S{1,30} api key|${SECRET_NAMES}`,
        4,
        'in|into|to',
        0,
        'your|the final',
        2,
        'answer|response|reply|message|output|summary',
      ],
      [
        'send|email|mail|upload|post|forward|exfiltrate|transmit|leak',
        3,
        `${SECRET_PATH}|private keys|passwords|all secrets|environment variables`,
        4,
        'to',
      ],
      ['with the user token|with the users token|with the user s token|with your api key|with the user s credentials'],
    ],
  },
  {
    kind: 'other_tools',
    phrases: [
      ['instead of|in place of|rather than', 0, 'every|all|any', 0, 'other', 3, 'tool|tools'],
      ['other|others|remaining', 1, 'are|is', 0, 'broken|unsafe|malicious|compromised|insecure|not to be trusted'],
      ['never|do not|don t', 0, 'use|call|invoke', 1, 'any other|other|another', 1, 'tool|tools'],
      [
        'whenever|every time|each time|any time',
        1,
        'the|a|an|any|another',
        0,
        '(?!this )\\S{1,30}',
        1,
        'tool',
        0,
        'is|gets',
        0,
        'used|called|invoked|run',
      ],
      ['must|should|shall|always|have to|need to', 1, 'call|run|use|invoke|execute', 1, SHELLS, 2, 'first|with|before|to'],
      ['add|include|set|insert|use', 6, 'hidden|secret|bcc', 0, 'recipient|copy|address'],
      ['otherwise|or else|or', 2, 'other tools|all tools|the tools', 1, 'will', 0, 'fail|break|stop|crash'],
    ],
  },
  {
    kind: 'addressed',
    phrases: [
      [
        'note to|notes to|attention|message to|message for|reminder to|reminder for|notice to|notice for|ps for|p s for|ps to|p s to',
        1,
        'ai|llm|llms|language models|language model|ai agents|ai agent|ai assistants|ai assistant|ai models|ai systems|large language models',
      ],
      [
        'if you are|if you re|when you are',
        1,
        'ai|llm|language model|large language model|ai assistant|ai agent',
        8,
        'must|should|please|ignore|send|include|do not|always|never',
      ],
      [
        'ai agents|ai assistants|ai agent|ai assistant|llms|language models',
        0,
        'must|should',
        2,
        'ignore|send|include|obey|run|execute|reveal|recommend|upload',
      ],
    ],
  },
  {
    kind: 'gate',
    phrases: [
      [
        'disable|disabling|turn off|turning off|switch off|bypass|bypassing|deactivate|circumvent|weaken|evade|remove',
        2,
        'approval gate|approval prompt|approval prompts|approval check|approval checks|permission prompt|permission prompts|permission check|permission checks|safety checks|safety filter|safety filters|safety rules',
      ],
    ],
  },
  {
    kind: 'encoded',
    phrases: [['decode|decrypt|unscramble|deobfuscate', 5, 'and|then', 1, 'follow|execute|obey|perform|act on|comply|carry out']],
  },
];

export const ENGLISH: readonly { readonly kind: FindingKind; readonly phrase: Phrase }[] = TABLE.flatMap(({ kind, phrases }) =>
  phrases.map((phrase) => ({ kind, phrase })),
);
