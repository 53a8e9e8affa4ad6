import type { FindingKind } from './findings.ts';
import type { Phrase } from './phrase.ts';

/**
 * "Ignore the previous instructions" in other languages. Verb, "previous" and "instructions" are all needed, so that a sentence about a
 * former version of a document passes. Accents of Latin letters are gone (views.ts). Word order differs, hence both ways where usual.
 */
interface Language {
  readonly ignore: string;
  readonly earlier: string;
  readonly orders: string;
}

const SPACED: readonly Language[] = [
  // German
  {
    ignore: 'ignorier\\S*|vergiss|vergesst|vergessen sie|missachte\\S*|beachte nicht',
    earlier: 'vorherig\\S*|vorig\\S*|bisherig\\S*|vorangegangen\\S*|fruher\\S*|obig\\S*|alle\\S*',
    orders: 'anweisung\\S*|instruktion\\S*|befehl\\S*|vorgaben|systemprompt\\S*',
  },
  // French
  {
    ignore: 'ignore[zr]?|oublie[zr]?|ne tiens pas compte|ne tenez pas compte|neglige[zr]?',
    earlier: 'precedent\\S*|anterieur\\S*|ci dessus|toutes',
    orders: 'instructions?|consignes?|directives?',
  },
  // Spanish
  {
    ignore: 'ignor[ae]\\S*|olvid[ae]\\S*|haz caso omiso|no hagas caso|descart[ae]\\S*',
    earlier: 'anterior\\S*|previ[ao]s?|todas',
    orders: 'instrucciones|ordenes|indicaciones|directrices',
  },
  // Portuguese
  {
    ignore: 'ignor[ae]\\S*|esquec[ae]\\S*|desconsider[ae]\\S*',
    earlier: 'anterior\\S*|previas?|acima|todas',
    orders: 'instrucoes|ordens|orientacoes|diretrizes',
  },
  // Italian
  {
    ignore: 'ignor[ai]\\S*|dimentic[ah]\\S*|trascur[ai]\\S*',
    earlier: 'precedent\\S*|anterior\\S*|tutte',
    orders: 'istruzioni|ordini|indicazioni|direttive',
  },
  // Dutch
  { ignore: 'negeer|vergeet', earlier: 'vorige|eerdere|voorgaande|bovenstaande|alle', orders: 'instructies?|opdrachten|aanwijzingen' },
  // Polish
  {
    ignore: 'zignoruj\\S*|ignoruj\\S*|pomin\\S*|zapomnij\\S*',
    earlier: 'poprzedni\\S*|wczesniejsz\\S*|powyzsz\\S*|wszystk\\S*',
    orders: 'instrukcj\\S*|polecen\\S*|wytyczn\\S*',
  },
  // Swedish, Danish, Norwegian
  {
    ignore: 'ignorera|ignorer|bortse fran|glom|glem',
    earlier: 'tidigare|foregaende|tidligere|alla|alle',
    orders: 'instruktion\\S*|instruks\\S*|anvisning\\S*',
  },
  // Indonesian, Malay
  { ignore: 'abaikan|lupakan', earlier: 'sebelumnya|semua|di atas', orders: 'instruksi|perintah|arahan' },
  // Turkish
  {
    ignore: 'yok say|gormezden gel|unut|dikkate alma',
    earlier: 'onceki|yukaridaki|tum|butun',
    orders: 'talimat\\S*|komut\\S*|yonerge\\S*',
  },
  // Vietnamese
  { ignore: 'bo qua|quen', earlier: 'truoc|truoc do|tat ca|o tren', orders: 'huong dan|chi dan|lenh|chi thi' },
  // Russian and Ukrainian
  {
    ignore: 'игнориру\\S*|проигнориру\\S*|забудь\\S*|не обращай\\S*|пренебреги\\S*|ігноруй\\S*',
    earlier: 'предыдущ\\S*|прежн\\S*|прошл\\S*|вышеуказан\\S*|попередн\\S*|все|всі',
    orders: 'инструкц\\S*|указани\\S*|команд\\S*|приказ\\S*|правил\\S*|інструкц\\S*|вказівк\\S*',
  },
  // Arabic
  {
    ignore: 'تجاهل\\S*|انس|انسى|أهمل|اهمل',
    earlier: 'السابقة|السابقه|أعلاه|جميع|كل',
    orders: 'التعليمات|تعليمات|الأوامر|الاوامر|أوامر|الإرشادات|القواعد',
  },
  // Hebrew
  { ignore: 'התעלם|התעלמי|התעלמו|שכח', earlier: 'הקודמות|הקודמים|לעיל|כל|מכל', orders: 'ההוראות|הוראות|ההנחיות|הפקודות' },
  // Persian
  { ignore: 'نادیده|فراموش', earlier: 'قبلی|پیشین|بالا|تمام|همه', orders: 'دستورات|دستورالعمل\\S*|دستورهای' },
  // Hindi
  { ignore: 'अनदेखा|नज़रअंदाज|नजरअंदाज|भूल', earlier: 'पिछले|पिछली|पहले|सभी|उपरोक्त', orders: 'निर्देश\\S*|आदेश\\S*' },
];

/** Verb, "previous" and "instructions" stand in some order in languages; three words may stand between each. */
const orders = ({ ignore, earlier, orders: things }: Language): readonly Phrase[] => [
  [ignore, 3, earlier, 3, things],
  [ignore, 3, things, 3, earlier],
  [earlier, 3, things, 3, ignore],
  [things, 3, earlier, 3, ignore],
];

/** "Do not tell the user." */
const CONCEALMENT: readonly Phrase[] = [
  ['sag|sage|sagt|verrate|verrat|erzahle|erzahl|teile|teil|erwahne', 2, 'nutzer|benutzer|anwender|user', 3, 'nicht|nichts|niemals'],
  ['ne dis pas|ne dites pas|ne dis rien|ne dites rien|ne mentionne pas|ne mentionnez pas|n informe pas|n informez pas', 4, 'utilisateur'],
  ['no le digas|no digas|no se lo digas|no informes|no menciones|no reveles', 4, 'usuario'],
  ['nao diga|nao conte|nao informe|nao mencione', 4, 'usuario'],
  ['non dire|non dirlo|non informare|non menzionare', 4, 'utente'],
  ['не говори|не говорите|не сообщай|не сообщайте|не упоминай|не упоминайте|не рассказывай', 3, 'пользователю|пользователям|юзеру'],
];

export const OTHER_LANGUAGES: readonly { readonly kind: FindingKind; readonly phrase: Phrase }[] = [
  ...SPACED.flatMap(orders).map((phrase) => ({ kind: 'override' as const, phrase })),
  ...CONCEALMENT.map((phrase) => ({ kind: 'concealment' as const, phrase })),
];

/** Scripts without blanks, and Korean, whose endings stick to the words. On the text itself, at most 12 characters between. */
export const UNSPACED_PATTERNS: readonly { readonly kind: FindingKind; readonly pattern: RegExp }[] = [
  ...[
    /(?:忽略|无视|忘记|忽視|無視|忘記|不要理会|不要遵守|不理會)[\s\S]{0,12}(?:之前|先前|以前|以上|上面|前面|所有|一切|原来)[\s\S]{0,12}(?:指令|指示|命令|规则|規則|提示词|提示詞)/u,
    /(?:之前|先前|以上|上面|前面|所有)[\s\S]{0,12}(?:指令|指示|命令|规则|規則|提示词)[\s\S]{0,12}(?:忽略|无视|忽視|無視|作废)/u,
    /(?:以前|これまで|前|上記|すべて|全て)[\s\S]{0,12}(?:指示|命令|プロンプト|ルール|指令)[\s\S]{0,12}(?:無視|忘れ|従わな)/u,
    /(?:이전|앞선|위의|모든|지금까지)[\s\S]{0,12}(?:지시|명령|지침|프롬프트|규칙)[\s\S]{0,12}(?:무시|잊)/u,
    /(?:ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ)[\s\S]{0,12}(?:คำสั่ง|คำแนะนำ)[\s\S]{0,16}(?:ก่อนหน้า|ทั้งหมด|ข้างต้น)/u,
  ].map((pattern) => ({ kind: 'override' as const, pattern })),
  ...[
    /(?:不要|别|別|请勿|切勿)[\s\S]{0,4}(?:告诉|告訴|告知|通知|透露给|让|讓)[\s\S]{0,4}(?:用户|用戶|使用者)/u,
    /ユーザーに(?:は)?[\s\S]{0,8}(?:言わない|言うな|伝えない|伝えるな|知らせない|知らせるな|教えない|教えるな)/u,
    /사용자에게[\s\S]{0,12}(?:말하지|알리지|언급하지)[\s]{0,2}(?:마|말|않)/u,
  ].map((pattern) => ({ kind: 'concealment' as const, pattern })),
];
