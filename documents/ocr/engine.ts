import { createWorker, OEM, type Page, type Worker } from 'tesseract.js';

import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';

/**
 * Maximum number of languages that stay loaded, script detection included; the least recently used is dropped. Each takes
 * about 80 MB, and 0.4 s to load. A Chinese page needs four: the trial in English, detection, and both ways of writing.
 */
const MAX_LOADED = 4;

/** Loaded engines by code, the least recently used first. */
const loaded = new Map<string, Promise<Worker>>();

/**
 * Recognizes the text of a picture with Tesseract, which is loaded with the first picture of its language and stays in
 * this process. Downloads nothing.
 * @param folder contains `<language>.traineddata.gz`
 */
export async function readPicture(picture: Uint8Array, language: OcrLanguage, folder: string): Promise<Page> {
  const worker = await engineOf(language, folder);
  const { data } = await worker.recognize(Buffer.from(picture), {}, { text: false, blocks: true });
  return data;
}

/** Detects the script of a picture. Null: too little text. @param folder contains `osd.traineddata.gz` */
export async function detectScript(picture: Uint8Array, folder: string): Promise<string | null> {
  const worker = await engineOf('osd', folder);
  const { data } = await worker.detect(Buffer.from(picture));
  return data.script;
}

async function engineOf(code: OcrLanguage | 'osd', folder: string): Promise<Worker> {
  const worker = loaded.get(code) ?? start(code, folder);
  loaded.delete(code);
  loaded.set(code, worker);
  const [oldest] = loaded;
  if (loaded.size > MAX_LOADED && oldest) {
    loaded.delete(oldest[0]);
    await (await oldest[1]).terminate();
  }
  return worker;
}

function start(code: OcrLanguage | 'osd', folder: string): Promise<Worker> {
  const place = { langPath: folder, gzip: true, cacheMethod: 'none' };
  // Only the older engine of Tesseract detects scripts.
  return code === 'osd'
    ? createWorker(code, OEM.TESSERACT_ONLY, { ...place, legacyCore: true, legacyLang: true })
    : createWorker(code, OEM.LSTM_ONLY, place);
}
