import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The data of a configured language is not installed. */
export class UnknownLanguage extends Error {}

/**
 * Returns the folder with the data of the languages, as Tesseract expects it.
 * @param languages Tesseract's codes, each of an installed package `@tesseract.js-data/<code>`
 * @param folder collects the data of several languages; created if needed
 * @throws UnknownLanguage naming the package to install
 */
export function languageFolder(languages: readonly string[], folder: string): string {
  const found = languages.map((code) => ({ code, from: dataOf(code) }));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.from;
  mkdirSync(folder, { recursive: true });
  for (const { code, from } of found) {
    const name = `${code}.traineddata.gz`;
    // Replaces an existing link, which may point to an earlier location of the package.
    const fresh = path.join(folder, `${name}.${randomUUID()}`);
    symlinkSync(path.join(from, name), fresh);
    renameSync(fresh, path.join(folder, name));
  }
  return folder;
}

function dataOf(code: string): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`@tesseract.js-data/${code}/package.json`);
    const data = path.join(path.dirname(manifest), '4.0.0_best_int');
    if (existsSync(path.join(data, `${code}.traineddata.gz`))) return data;
  } catch {
    // The error is thrown below.
  }
  throw new UnknownLanguage(
    `OCR_LANGUAGES names ${code}, whose data is not installed. Install it (npm i @tesseract.js-data/${code}), or remove it from the list.`,
  );
}
