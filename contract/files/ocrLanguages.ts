/** Engines of OCR: Tesseract compiled to WebAssembly, and the installed program. */
export const OCR_ENGINES = ['wasm', 'native'] as const;
export type OcrEngineName = (typeof OCR_ENGINES)[number];

/** Scripts that OCR distinguishes. */
export type OcrScript =
  | 'Latin'
  | 'Cyrillic'
  | 'Greek'
  | 'Han'
  | 'Japanese'
  | 'Hangul'
  | 'Arabic'
  | 'Hebrew'
  | 'Devanagari'
  | 'Thai';

/** A language that OCR can read. */
interface OcrLanguageRow {
  /** Name for messages. */
  readonly name: string;
  readonly script: OcrScript;
}

/** The languages that OCR can read, by Tesseract's code. */
export const OCR_LANGUAGES = {
  eng: { name: 'English', script: 'Latin' },
  deu: { name: 'German', script: 'Latin' },
  fra: { name: 'French', script: 'Latin' },
  spa: { name: 'Spanish', script: 'Latin' },
  ita: { name: 'Italian', script: 'Latin' },
  por: { name: 'Portuguese', script: 'Latin' },
  nld: { name: 'Dutch', script: 'Latin' },
  pol: { name: 'Polish', script: 'Latin' },
  swe: { name: 'Swedish', script: 'Latin' },
  ces: { name: 'Czech', script: 'Latin' },
  tur: { name: 'Turkish', script: 'Latin' },
  vie: { name: 'Vietnamese', script: 'Latin' },
  rus: { name: 'Russian', script: 'Cyrillic' },
  ukr: { name: 'Ukrainian', script: 'Cyrillic' },
  ell: { name: 'Greek', script: 'Greek' },
  chi_sim: { name: 'Chinese (simplified)', script: 'Han' },
  chi_tra: { name: 'Chinese (traditional)', script: 'Han' },
  jpn: { name: 'Japanese', script: 'Japanese' },
  kor: { name: 'Korean', script: 'Hangul' },
  ara: { name: 'Arabic', script: 'Arabic' },
  heb: { name: 'Hebrew', script: 'Hebrew' },
  hin: { name: 'Hindi', script: 'Devanagari' },
  tha: { name: 'Thai', script: 'Thai' },
} as const satisfies Record<string, OcrLanguageRow>;

export type OcrLanguage = keyof typeof OCR_LANGUAGES;
export const OCR_LANGUAGE_CODES = Object.keys(OCR_LANGUAGES) as OcrLanguage[];

/** Mean confidence of a page's words, 0 to 1, below which its text is probably wrong: the file gets a warning. */
export const LOW_OCR_CONFIDENCE = 0.7;
