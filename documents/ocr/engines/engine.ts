import type { OcrLanguage } from '../../../contract/files/ocrLanguages.js';

/** A word as an engine reads it. */
export interface OcrWord {
  readonly text: string;
  /** 0 to 100. */
  readonly confidence: number;
  /** In pixels of the picture. */
  readonly bbox: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number };
}

export interface OcrLine {
  readonly words: readonly OcrWord[];
  /** Height from the lowest to the highest letter of its font, in pixels. */
  readonly height: number;
}

/** The text of a picture: the lines of each paragraph, in reading order. */
export type PictureText = readonly (readonly OcrLine[])[];

/** Which Tesseract is used, and where its data is. */
export type EngineChoice =
  | {
      readonly kind: 'wasm';
      /** Contains `<code>.traineddata.gz`. */
      readonly folder: string;
    }
  | {
      readonly kind: 'native';
      /** Absolute path. */
      readonly program: string;
      /** Null: the program's default folder. */
      readonly dataFolder: string | null;
    };

/** Tesseract, in this process or as a program. Its data must be on this machine: it downloads nothing. */
export interface OcrEngine {
  read(picture: Uint8Array, language: OcrLanguage): Promise<PictureText>;
  /** Returns Tesseract's name of the script of a picture. Null: too little text. */
  detectScript(picture: Uint8Array): Promise<string | null>;
}
