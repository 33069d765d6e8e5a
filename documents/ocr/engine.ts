import { createWorker, OEM, type Page, type Worker } from 'tesseract.js';

export interface EngineSettings {
  /** Tesseract's language codes. */
  readonly languages: readonly string[];
  /** Folder with the language data. */
  readonly languageFolder: string;
}

let engine: { readonly key: string; readonly worker: Promise<Worker> } | null = null;

/**
 * Recognizes the text of a picture with Tesseract, which is loaded with the first picture and stays in this process.
 * Downloads nothing.
 */
export async function readPicture(picture: Uint8Array, settings: EngineSettings): Promise<Page> {
  const worker = await engineOf(settings);
  const { data } = await worker.recognize(Buffer.from(picture), {}, { text: false, blocks: true });
  return data;
}

async function engineOf({ languages, languageFolder }: EngineSettings): Promise<Worker> {
  const key = JSON.stringify([languages, languageFolder]);
  if (engine?.key !== key) {
    const before = engine;
    engine = {
      key,
      worker: createWorker([...languages], OEM.LSTM_ONLY, {
        langPath: languageFolder,
        gzip: true,
        cacheMethod: 'none',
      }),
    };
    await (await before?.worker)?.terminate();
  }
  return engine.worker;
}
