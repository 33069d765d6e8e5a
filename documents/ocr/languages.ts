import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** A language whose data is not installed. */
export class UnknownLanguage extends Error {}

/**
 * The folder with the data of some languages, as Tesseract wants it.
 * @param languages codes of Tesseract, each of an installed package `@tesseract.js-data/<code>`
 * @param folder where those of several languages are brought together; made if need be
 * @throws UnknownLanguage naming the package to install
 */
export function languageFolder(languages: readonly string[], folder: string): string {
  const found = languages.map((code) => ({ code, from: dataOf(code) }));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.from;
  mkdirSync(folder, { recursive: true });
  for (const { code, from } of found) {
    const name = `${code}.traineddata.gz`;
    // In the place of an earlier one, which may lead to where the package lay before.
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
    // Said below.
  }
  throw new UnknownLanguage(
    `OCR_LANGUAGES names ${code}, whose data is not installed. Install it (npm i @tesseract.js-data/${code}), or take it off the list.`,
  );
}
