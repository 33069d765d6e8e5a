/** Tests how the data of OCR languages is found and downloaded. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { Fault } from '../../../contract/failures.js';
import { OCR_LANGUAGE_CODES } from '../../../contract/files/ocrLanguages.js';
import { fetchPackage } from '../../../documents/ocr/data/fetchPackage.js';
import { createLanguageData } from '../../../documents/ocr/data/languageData.js';
import { PACKAGES } from '../../../documents/ocr/data/packages.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-ocr-'));
});
afterEach(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();

/** Returns an npm package with members of these contents. */
function packageWith(members: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(members).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(`package/${name}`, 0, 'latin1');
    header.write(Buffer.byteLength(content).toString(8).padStart(11, '0'), 124, 'latin1');
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
    body.write(content);
    return [header, body];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
const pinned = (bytes: Buffer) => ({
  integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
  megabytes: 1,
});
const PACKAGE = packageWith({
  'package.json': '{}',
  '4.0.0/deu.traineddata.gz': 'of the older engine',
  '4.0.0_best_int/deu.traineddata.gz': 'of German',
});
const downloadOf = (bytes: Buffer) => (_name: string, into: string) => writeFile(path.join(into, 'deu.tgz'), bytes);

test('stores the data of the pinned package, and nothing else', async () => {
  const file = path.join(folder, 'deu.traineddata.gz');
  await fetchPackage('deu', pinned(PACKAGE), file, signal, downloadOf(PACKAGE));
  expect(await readFile(file, 'utf8')).toBe('of German');
  expect(await readdir(folder)).toEqual(['deu.traineddata.gz']);
});

test.each([
  ['another hash', pinned(Buffer.from('other')), downloadOf(PACKAGE), /its hash is sha512-/],
  ['no data', pinned(packageWith({})), downloadOf(packageWith({})), /contains no 4\.0\.0_best_int\/deu/],
  ['no download', pinned(PACKAGE), () => Promise.resolve(), /npm downloaded nothing/],
])('refuses a package with %s and stores nothing', async (_what, expected, download, reason) => {
  const file = path.join(folder, 'deu.traineddata.gz');
  await expect(fetchPackage('deu', expected, file, signal, download)).rejects.toThrow(reason);
  expect(await readdir(folder)).toEqual([]);
});

test('downloads a language once for parallel callers; an abort ends only the wait of its caller', async () => {
  let downloads = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const lines: string[] = [];
  const data = createLanguageData({
    folder,
    systemFolder: path.join(folder, 'system'),
    onProgress: (line) => lines.push(line),
    async download() {
      downloads += 1;
      await released;
      throw Object.assign(new Error('Command failed'), { stderr: 'npm error code E1\nnpm error no route\n' });
    },
  });
  const stop = new AbortController();
  const first = data.ensure('deu', signal);
  const second = data.ensure('deu', stop.signal);
  stop.abort(new Error('stopped'));
  await expect(second).rejects.toThrow('stopped');
  release();
  const fault = (await first.catch((error: unknown) => error)) as Fault;
  // A failed download is not repeated for some minutes.
  await expect(data.ensure('deu', signal)).rejects.toBe(fault);
  expect([downloads, fault.kind, lines]).toEqual([1, 'not_configured', ['Downloading the OCR data of German (8 MB)']]);
  expect(fault.message).toBe(
    `The OCR data of German (deu) is not on this machine and could not be downloaded: no route. Run "npm run cli -- ocr fetch deu" where npm reaches its registry, install the system's data (apt-get install tesseract-ocr-deu), or put deu.traineddata.gz into ${folder}.`,
  );
});

test('finds English, which is installed, and files that an operator put into the folder', async () => {
  const data = createLanguageData({ folder });
  expect(data.present(['eng', 'deu', 'kor'])).toEqual(['eng']);
  await writeFile(path.join(folder, 'kor.traineddata.gz'), '');
  expect(data.present(['eng', 'deu', 'kor'])).toEqual(['eng', 'kor']);
});

describe('without a registry', () => {
  const unreachable = () => Promise.reject(new Error('no route'));
  const systemFolder = () => path.join(folder, 'system');
  const file = () => path.join(folder, 'deu.traineddata.gz');
  beforeEach(async () => {
    await mkdir(path.join(systemFolder(), '5', 'tessdata'), { recursive: true });
    await writeFile(path.join(systemFolder(), '5', 'tessdata', 'deu.traineddata'), 'of the system');
  });

  test("the system's data is used after one failed download", async () => {
    const lines: string[] = [];
    let downloads = 0;
    const data = createLanguageData({
      folder,
      systemFolder: systemFolder(),
      onProgress: (line) => lines.push(line),
      download() {
        downloads += 1;
        return unreachable();
      },
    });
    expect(data.present(['deu'])).toEqual([]);
    await data.ensure('deu', signal);
    await data.ensure('deu', signal);
    expect(data.present(['deu'])).toEqual(['deu']);
    expect([await readFile(file(), 'utf8'), downloads]).toEqual(['of the system', 1]);
    expect(lines[1]).toMatch(/^The OCR data of German could not be downloaded: no route\. .*system's data is used/);
    await expect(data.ensure('fra', signal)).rejects.toThrow(/could not be downloaded: no route/);
  });

  test("the next process downloads again, and replaces the link to the system's data by the download", async () => {
    await createLanguageData({ folder, systemFolder: systemFolder(), download: unreachable }).ensure('deu', signal);
    const next = createLanguageData({ folder, systemFolder: systemFolder(), download: unreachable });
    expect(next.present(['deu'])).toEqual([]);
    await fetchPackage('deu', pinned(PACKAGE), file(), signal, downloadOf(PACKAGE));
    expect(next.present(['deu'])).toEqual(['deu']);
    expect(await readFile(file(), 'utf8')).toBe('of German');
    expect(await readFile(path.join(systemFolder(), '5', 'tessdata', 'deu.traineddata'), 'utf8')).toBe('of the system');
  });

  test('with mustDownload, a failed download is an error although the system has the data', async () => {
    const settings = { folder, systemFolder: systemFolder(), download: unreachable, mustDownload: true };
    await expect(createLanguageData(settings).ensure('deu', signal)).rejects.toThrow(/could not be downloaded/);
  });
});

test('every language except English and Russian has a package with a SHA-512 checksum', () => {
  expect(OCR_LANGUAGE_CODES.filter((code) => PACKAGES[code] === undefined)).toEqual(['eng', 'rus']);
  for (const { integrity } of Object.values(PACKAGES))
    expect(Buffer.from(integrity.slice(7), 'base64').length).toBe(64);
});
