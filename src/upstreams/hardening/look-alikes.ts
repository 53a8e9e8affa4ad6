/** Letters of other scripts that pass for a Latin one at a glance. Mathematical, full-width and circled letters are not here: NFKC folds them. */
const PAIRS: Readonly<Record<string, string>> = {
  // Cyrillic
  а: 'a',
  в: 'b',
  е: 'e',
  ё: 'e',
  к: 'k',
  м: 'm',
  н: 'h',
  о: 'o',
  р: 'p',
  с: 'c',
  т: 't',
  у: 'y',
  х: 'x',
  ѕ: 's',
  і: 'i',
  ї: 'i',
  ј: 'j',
  ԁ: 'd',
  ԛ: 'q',
  ԝ: 'w',
  һ: 'h',
  ӏ: 'l',
  ո: 'n',
  ѵ: 'v',
  ԍ: 'g',
  ь: 'b',
  г: 'r',
  п: 'n',
  и: 'u',
  // Greek
  α: 'a',
  β: 'b',
  ε: 'e',
  ζ: 'z',
  η: 'n',
  ι: 'i',
  κ: 'k',
  μ: 'm',
  ν: 'v',
  ο: 'o',
  ό: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  γ: 'y',
  σ: 'o',
  ω: 'w',
  ϲ: 'c',
  ϳ: 'j',
  // Armenian
  օ: 'o',
  ս: 'u',
  հ: 'h',
  ց: 'g',
  զ: 'q',
  ա: 'w',
  յ: 'j',
  տ: 's',
  ք: 'p',
  ր: 'n',
  // Latin letters that are not the plain ones: small capitals, dotless, script, and a few that look the same
  ᴀ: 'a',
  ʙ: 'b',
  ᴄ: 'c',
  ᴅ: 'd',
  ᴇ: 'e',
  ꜰ: 'f',
  ɢ: 'g',
  ʜ: 'h',
  ɪ: 'i',
  ᴊ: 'j',
  ᴋ: 'k',
  ʟ: 'l',
  ᴍ: 'm',
  ɴ: 'n',
  ᴏ: 'o',
  ᴘ: 'p',
  ʀ: 'r',
  ꜱ: 's',
  ᴛ: 't',
  ᴜ: 'u',
  ᴠ: 'v',
  ᴡ: 'w',
  ʏ: 'y',
  ᴢ: 'z',
  ı: 'i',
  ɑ: 'a',
  ɡ: 'g',
  ȷ: 'j',
  ɩ: 'i',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ħ: 'h',
  ß: 'ss',
  // Cherokee, in lower case
  ꭰ: 'd',
  ꭱ: 'r',
  ꭲ: 't',
  ꭵ: 'i',
  ꭺ: 'a',
  ꭻ: 'j',
  ꭼ: 'e',
  ꮃ: 'w',
  ꮇ: 'm',
  ꮋ: 'h',
  ꮐ: 'g',
  ꮓ: 'z',
  ꮖ: 'i',
  ꮪ: 's',
  ꮩ: 'v',
  ꮮ: 'l',
  ꮯ: 'c',
  ꮲ: 'p',
  ꮶ: 'k',
};

/** Digits and signs that stand for letters inside a word. */
const DIGITS: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's' };

/** A word of letters with such signs among them. */
const DISGUISED = /(?<![a-z0-9@$])(?=[a-z0-9@$]{0,40}[a-z])(?=[a-z0-9@$]{0,40}[013457@$])[a-z0-9@$]{3,40}(?![a-z0-9@$])/g;

/** Letters that make a word suspicious when they stand among Latin ones; π, Δ, μ and other symbols of formulas are not among them. */
const DECEPTIVE = /[авекмнорстухѕіјԁԛԝһӏοόιρυκηντχαεϲϳօսհ]/u;
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const WORD = /[\p{L}\p{N}_]{1,200}/gu;

/** Look-alikes replaced by the Latin letters they pass for, and digits inside words by the letters they stand for. In lower case. */
export function foldLookAlikes(text: string): string {
  const letters = text.replace(/[^\x00-\x7f]/gu, (char) => PAIRS[char] ?? char);
  if (!/[a-z][013457@$]|[013457@$][a-z]/.test(letters)) return letters;
  return letters.replace(DISGUISED, (word) => word.replace(/[013457@$]/g, (sign) => DIGITS[sign] ?? sign));
}

/**
 * The first word of at least four letters in which Latin letters stand among foreign ones that all pass for Latin. Whole words of
 * another script next to Latin ones are two languages, and a word with a letter that deceives nobody ("αβ", "IPшник") is honest.
 */
export function lookAlikeWord(text: string): string | undefined {
  if (!FOREIGN.test(text)) return undefined;
  for (const [word] of text.matchAll(WORD)) {
    if (word.length < 4 || !FOREIGN.test(word) || !/[a-z]/i.test(word)) continue;
    const letters = [...word.toLowerCase()].filter((char) => FOREIGN.test(char));
    if (letters.every((char) => DECEPTIVE.test(char))) return word;
  }
  return undefined;
}
