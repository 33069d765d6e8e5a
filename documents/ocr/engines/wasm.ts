import { createWorker, OEM, type Worker } from 'tesseract.js';

import type { DataCode } from '../data/packages.js';
import type { OcrEngine } from './engine.js';
import { joinParts } from './joinParts.js';

/**
 * Maximum number of languages that stay loaded, script detection included; the least recently used is dropped. Each
 * takes about 80 MB, and 0.4 s to load. A Chinese page needs four: English, in which a part of the page is read first,
 * script detection, simplified and traditional Chinese.
 */
const MAX_LOADED = 4;

/** Loaded engines by code, the least recently used first. */
const loaded = new Map<DataCode, Promise<Worker>>();

/**
 * Returns Tesseract compiled to WebAssembly. A language is loaded with its first picture and stays in this process.
 * @param folder contains `<code>.traineddata.gz`
 */
export const wasmEngine = (folder: string): OcrEngine => ({
  async read(picture, language) {
    const worker = await workerOf(language, folder);
    const { data } = await worker.recognize(Buffer.from(picture), {}, { text: false, blocks: true });
    return (data.blocks ?? [])
      .flatMap(({ paragraphs }) => paragraphs)
      .map(({ lines }) =>
        lines.map(({ text, words, rowAttributes }) => ({
          words: joinParts(words, text),
          height: rowAttributes.rowHeight,
        })),
      );
  },
  async detectScript(picture) {
    const worker = await workerOf('osd', folder);
    const { data } = await worker.detect(Buffer.from(picture));
    return data.script;
  },
});

async function workerOf(code: DataCode, folder: string): Promise<Worker> {
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

function start(code: DataCode, folder: string): Promise<Worker> {
  const place = { langPath: folder, gzip: true, cacheMethod: 'none' };
  // Only the older engine of Tesseract detects scripts.
  return code === 'osd'
    ? createWorker(code, OEM.TESSERACT_ONLY, { ...place, legacyCore: true, legacyLang: true })
    : createWorker(code, OEM.LSTM_ONLY, place);
}
