import { OCR_LANGUAGES, type OcrLanguage, type OcrScript } from '../../contract/files/ocrLanguages.js';
import { meanConfidence, wordsOf } from './confidence.js';
import { cutStrip } from './cutStrip.js';
import type { DataCode } from './data/packages.js';
import type { EngineChoice, PictureText } from './engines/engine.js';
import { openEngine } from './engines/openEngine.js';
import { guessLanguage } from './guessLanguage.js';
import type { Raster } from './raster.js';

/** The languages of a page, and the data on this machine. */
export interface LanguageChoice {
  /** Languages to choose from, the most likely first. */
  readonly languages: readonly OcrLanguage[];
  readonly engine: EngineChoice;
  readonly present: readonly DataCode[];
  /** Data that could not be downloaded. Its language is skipped, and other languages of the same script are tried. */
  readonly refused: readonly DataCode[];
}

/** A page in the language that was found. */
interface ReadPage {
  readonly language: OcrLanguage;
  readonly page: PictureText;
}

/** Thrown if data is needed that is not on this machine: the caller downloads it and repeats the call. */
export class DataNeeded extends Error {
  readonly code: DataCode;

  constructor(code: DataCode) {
    super(`OCR needs the data ${code}`);
    this.code = code;
  }
}

/**
 * Minimum confidence of a strip that is read in the right script. The confidence is above 0.8 in any language of that
 * script, and below 0.5 in another script.
 */
const RIGHT_SCRIPT_CONFIDENCE = 0.65;
/** Confidence above which the languages of a text without frequent words are not compared. */
const GOOD_CONFIDENCE = 0.88;
/** Maximum number of languages that are compared at once, of one script or of several. */
const MAX_COMPARED = 4;
/** Scripts of this service by the script names of Tesseract. */
const SCRIPTS: Readonly<Record<string, OcrScript>> = {
  Latin: 'Latin',
  Fraktur: 'Latin',
  Cyrillic: 'Cyrillic',
  Han: 'Han',
  HanS: 'Han',
  HanT: 'Han',
  Japanese: 'Japanese',
  Hiragana: 'Japanese',
  Katakana: 'Japanese',
  Hangul: 'Hangul',
  Korean: 'Hangul',
  Arabic: 'Arabic',
  Devanagari: 'Devanagari',
  Greek: 'Greek',
  Hebrew: 'Hebrew',
  Thai: 'Thai',
};

/** A strip of a page, read in one language. */
interface Trial extends ReadPage {
  readonly text: string;
  readonly confidence: number;
}

/**
 * Reads a page in the best of several languages. The language is chosen on a strip with much text:
 * 1. The strip is read in English, or in another language with Latin script. If the confidence is high enough, frequent
 *    words in the result select the language.
 * 2. Otherwise the script is detected, and the languages of that script are compared by their confidence.
 * @throws DataNeeded
 */
export async function readInLanguage(raster: Raster, choice: LanguageChoice): Promise<ReadPage> {
  const { languages } = choice;
  const [only] = languages;
  if (only !== undefined && languages.length === 1) return readWhole(raster, only, choice);
  const strip = cutStrip(raster);
  const trials = new Trials(strip ?? raster, choice);
  const chosen = await chooseLanguage(raster, trials, choice);
  // A picture that is too small for a strip was already read as a whole.
  const wholeTrial = strip === null ? trials.cached(chosen) : undefined;
  return wholeTrial ?? readWhole(raster, chosen, choice);
}

async function readWhole(raster: Raster, language: OcrLanguage, choice: LanguageChoice): Promise<ReadPage> {
  requireData(language, choice);
  return { language, page: await (await openEngine(choice.engine)).read(raster.bytes, language) };
}

function requireData(code: DataCode, { present }: LanguageChoice): void {
  if (!present.includes(code)) throw new DataNeeded(code);
}

/** The strip of a page in several languages, each read once. */
class Trials {
  readonly #known = new Map<OcrLanguage, Trial>();
  readonly #strip: Raster;
  readonly #choice: LanguageChoice;

  constructor(strip: Raster, choice: LanguageChoice) {
    this.#strip = strip;
    this.#choice = choice;
  }

  cached(language: OcrLanguage): Trial | undefined {
    return this.#known.get(language);
  }

  async readIn(language: OcrLanguage): Promise<Trial> {
    const cached = this.#known.get(language);
    if (cached) return cached;
    requireData(language, this.#choice);
    const engine = await openEngine(this.#choice.engine);
    const page = await engine.read(this.#strip.bytes, language);
    const words = wordsOf(page);
    const trial = {
      language,
      page,
      text: words.map(({ text }) => text).join(' '),
      confidence: meanConfidence(words) ?? 0,
    };
    this.#known.set(language, trial);
    return trial;
  }

  /**
   * Returns the language that is read with the highest confidence. Languages whose data could not be downloaded are
   * skipped.
   */
  async mostConfident(languages: readonly OcrLanguage[]): Promise<OcrLanguage> {
    const { refused } = this.#choice;
    const usable = languages.filter((language) => !refused.includes(language)).slice(0, MAX_COMPARED);
    const [first = languages[0] as OcrLanguage] = usable;
    if (usable.length <= 1) return first;
    const trials: Trial[] = [];
    for (const language of usable) trials.push(await this.readIn(language));
    return trials.toSorted((a, b) => b.confidence - a.confidence)[0]?.language ?? first;
  }
}

async function chooseLanguage(raster: Raster, trials: Trials, choice: LanguageChoice): Promise<OcrLanguage> {
  const { languages, refused } = choice;
  const languagesOf = (script: OcrScript): OcrLanguage[] =>
    languages.filter((language) => OCR_LANGUAGES[language].script === script);
  const allLatin = languagesOf('Latin');
  const usableLatin = allLatin.filter((language) => !refused.includes(language));
  // If no Latin data is usable, skip the Latin languages: a page in another script can be read, if its script can be
  // detected.
  const canSkip = !refused.includes('osd') && languages.some((language) => !refused.includes(language));
  const latin = usableLatin.length > 0 || canSkip ? usableLatin : allLatin;
  const first = latin.find((language) => language === 'eng') ?? latin[0];
  const trial = first === undefined ? null : await trials.readIn(first);
  if (trial !== null && trial.confidence >= RIGHT_SCRIPT_CONFIDENCE) return latinLanguage(trial, latin, trials);
  // An empty page.
  if (trial !== null && trial.text === '') return trial.language;
  const script = await scriptOf(raster, choice);
  if (script === 'Han' && languagesOf('Japanese').length > 0) {
    const han = languagesOf('Han').filter((language) => !refused.includes(language));
    const chinese = han.length === 0 ? null : await trials.mostConfident(han);
    // A page detected as Han can be a Japanese page with few kana.
    return chinese !== null && (await trials.readIn(chinese)).confidence >= RIGHT_SCRIPT_CONFIDENCE
      ? chinese
      : trials.mostConfident([...languagesOf('Han'), ...languagesOf('Japanese')]);
  }
  if (script !== null && script !== 'Latin' && languagesOf(script).length > 0)
    return trials.mostConfident(languagesOf(script));
  if (trial !== null) return latinLanguage(trial, latin, trials);
  // The page is probably Latin. Reading it in this language fails with the reason why the data is missing; reading it
  // in another script would give wrong words.
  if (allLatin[0] !== undefined) return allLatin[0];
  // No language has the page's script, or the script is unknown: compare the first language of each script.
  const firsts = [...new Set(languages.map((language) => OCR_LANGUAGES[language].script))].flatMap(
    (usedScript) => languagesOf(usedScript)[0] ?? [],
  );
  const usable = firsts.filter((language) => !refused.includes(language));
  return trials.mostConfident(usable.length > 0 ? usable : firsts);
}

async function latinLanguage(trial: Trial, latin: readonly OcrLanguage[], trials: Trials): Promise<OcrLanguage> {
  const [guessed, ...others] = guessLanguage(trial.text, latin);
  if (guessed !== undefined) return others.length === 0 ? guessed : trials.mostConfident([guessed, ...others]);
  // Probably a list of names or numbers. Compare other languages only if the confidence is low.
  return trial.confidence >= GOOD_CONFIDENCE ? trial.language : trials.mostConfident(latin);
}

/**
 * Returns the script of a page; null if it has too little text, its script is not supported, or the data for detection
 * could not be downloaded.
 */
async function scriptOf(raster: Raster, choice: LanguageChoice): Promise<OcrScript | null> {
  if (choice.refused.includes('osd')) return null;
  requireData('osd', choice);
  const engine = await openEngine(choice.engine);
  const found = await engine.detectScript(raster.bytes);
  return found === null ? null : (SCRIPTS[found] ?? null);
}
