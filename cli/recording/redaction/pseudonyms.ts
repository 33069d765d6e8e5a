import { createHmac, randomBytes } from 'node:crypto';

/** Replaces words by pseudonyms: the same word always gets the same one, and no two words share one. */
export interface Pseudonyms {
  /** Returns the pseudonym of a sequence of letters and digits. Numbers of fewer than six digits stay. */
  of(word: string): string;
  /** Sets the pseudonym of a word before its first use: for a content's digest, the digest of the redacted content. */
  set(word: string, pseudonym: string): void;
}

/** Letters that replace those of a script, so that a text stays in its script. */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Latin}/u, 'àáâäåçèéêëìíîïñòóôöùúûü'],
  [/\p{Script=Greek}/u, 'αβγδεζηθικλμνξοπρστυφχψω'],
  [/\p{Script=Cyrillic}/u, 'абвгдежзиклмнопрстуфхцчшщэюя'],
  [/\p{Script=Hebrew}/u, 'אבגדהוזחטיכלמנסעפצקרשת'],
  [/\p{Script=Arabic}/u, 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
  [/\p{Script=Devanagari}/u, 'कखगघचछजझटठडढतथदधनपफबभमयरलवशसह'],
  [/\p{Script=Thai}/u, 'กขคงจฉชซดตถทธนบปผพฟภมยรลวสหอ'],
  [/\p{Script=Hangul}/u, '가나다라마바사아자차카타파하고노도로모보소오조초코토포호'],
  [/\p{Script=Hiragana}/u, 'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほ'],
  [/\p{Script=Katakana}/u, 'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホ'],
  [/\p{Script=Han}/u, '一二三四五六七八九十人大小山川日月木水火土上下中天白本文字学生年時'],
];
const HEX = 'abcdef';
const OTHER = 'ghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
/** Shorter numbers identify nothing: sizes, counts, versions. */
const MIN_DIGITS = 6;
const MAX_ATTEMPTS = 200;

/** Returns the characters that may replace one, which keep hexadecimal, decimal and base64 texts valid. */
function choicesFor(character: string, isFirstOfNumber: boolean): string {
  if (isFirstOfNumber && character !== '0') return DIGITS.slice(1);
  if (DIGITS.includes(character)) return DIGITS;
  if (HEX.includes(character)) return HEX;
  if (OTHER.includes(character)) return OTHER;
  if (/\p{M}|\p{N}/u.test(character)) return character;
  return SCRIPTS.find(([script]) => script.test(character))?.[1] ?? 'ø';
}

const isUpper = (character: string): boolean => character !== character.toLowerCase();

/**
 * Creates pseudonyms with a random key that is not kept, so that they cannot be reversed.
 * @param originals words that must not occur as pseudonyms, in lower case
 */
export function createPseudonyms(originals: ReadonlySet<string>): Pseudonyms {
  const key = randomBytes(32);
  const pseudonyms = new Map<string, string>();
  const used = new Set<string>();
  const generate = (word: string, attempt: number): string => {
    const stream = createHmac('sha512', key).update(`${attempt} ${word}`).digest();
    const isNumber = /^\d+$/.test(word);
    return [...word]
      .map((character, index) => {
        const choices = [...choicesFor(character, isNumber && index === 0)];
        const at = (stream[index % stream.length] ?? 0) + 251 * Math.floor(index / stream.length);
        return choices[at % choices.length] ?? character;
      })
      .join('');
  };
  const choose = (word: string): string => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const candidate = generate(word, attempt);
      if (!used.has(candidate) && candidate !== word && !originals.has(candidate)) return candidate;
    }
    // All pseudonyms of one or two characters may be in use, so add a character.
    for (let attempt = 0; ; attempt += 1) {
      const candidate = `${generate(word, attempt)}${OTHER[attempt % OTHER.length]}`;
      if (!used.has(candidate) && !originals.has(candidate)) return candidate;
    }
  };
  return {
    of(word) {
      if (/^\d+$/.test(word) && word.length < MIN_DIGITS) return word;
      // One pseudonym for all cases: providers and connectors change the case of names and addresses.
      const lower = word.toLowerCase();
      let pseudonym = pseudonyms.get(lower);
      if (pseudonym === undefined) {
        pseudonym = choose(lower);
        pseudonyms.set(lower, pseudonym);
        used.add(pseudonym);
      }
      const characters = [...word];
      return [...pseudonym]
        .map((letter, index) => (isUpper(characters[index] ?? '') ? letter.toUpperCase() : letter))
        .join('');
    },
    set(word, pseudonym) {
      pseudonyms.set(word.toLowerCase(), pseudonym.toLowerCase());
      used.add(pseudonym.toLowerCase());
    },
  };
}
