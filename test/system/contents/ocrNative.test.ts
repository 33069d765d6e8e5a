/** OCR by the installed program tesseract, which .ci/run installs with its Russian data. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { OcrSettings } from '../../../documents/pool.js';
import type { PageText } from '../../../documents/placedText.js';
import type { DocumentPool } from '../../../documents/types.js';
import { findTesseract, type NativeTesseract } from '../../../documents/ocr/data/nativeTesseract.js';
import { recall, OCR_TEXTS, scan, textOf } from '../../support/ocrPages.js';
import { drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';
import { makePdf } from '../../documents/formats/makePdf.js';
import { FILES, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';
import { loadDocumentPool } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const TIME_LIMIT_MS = 600_000;
let folder = '';
let native: NativeTesseract;
const pools: DocumentPool[] = [];

/** Starts a pool with the WASM engine, or with the program of `ocr.native`. */
function startPool(ocr: Partial<OcrSettings>): DocumentPool {
  const limits = { processes: 1, timeoutMs: 120_000, memoryMb: 1024, maxPixels: 20_000_000, niceness: 0 };
  const pool = createDocumentPool({
    ...{ threads: 1, timeoutMs: 60_000, memoryMb: 256, limits: LIMITS, files: FILES },
    ocr: { ...limits, languages: ['eng', 'rus'], folder, ...ocr },
  });
  pools.push(pool);
  return pool;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-native-'));
  native = await findTesseract(process.env['PATH'] ?? '');
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await rm(folder, { recursive: true });
});

const ONE_PAGE = { page: 1, findTables: false };
const HEADED = drawPicture(
  ['The harbour was dredged in 1902.', 'Ships of 3,400 tons may enter.', 'A pilot is on board by noon.'],
  {
    paint(context) {
      context.fillStyle = '#000';
      context.font = '64px "DejaVu Sans"';
      context.fillText('Port of Cobh', 60, 500);
    },
  },
);

describe('the installed program', () => {
  let nativePool: DocumentPool;
  beforeAll(() => {
    nativePool = startPool({ native });
  });

  test(
    'reads the same text, boxes and headings as the WASM engine',
    async () => {
      const [byProgram, byWasm] = await Promise.all(
        [nativePool, startPool({})].map((one) =>
          one.recognize(upload(HEADED, 'a.png'), { ...ONE_PAGE, languages: ['eng'] as const }),
        ),
      );
      const linesOf = (page: PageText | undefined) =>
        page?.paragraphs.flatMap((paragraph) => paragraph.lines.map(({ text }) => text));
      expect(linesOf(byProgram)).toEqual(linesOf(byWasm));
      // The engines group lines differently, but both report the size of letters.
      expect(byProgram?.paragraphs.at(-1)).toMatchObject({
        heading: expect.any(Number),
        lines: [{ text: 'Port of Cobh' }],
      });
      const boxes = (page: PageText | undefined) =>
        page?.paragraphs.flatMap(({ lines }) => lines.map(({ x1, y1, x2, y2 }) => [x1, y1, x2, y2]).flat()) ?? [];
      const expected = boxes(byWasm);
      boxes(byProgram).forEach((value, nth) => expect(Math.abs(value - (expected[nth] ?? 0))).toBeLessThanOrEqual(4));
      expect(byProgram?.recognition).toEqual({ language: 'eng', confidence: expect.any(Number) });
      expect(byProgram?.recognition?.confidence).toBeGreaterThan(0.8);
    },
    TIME_LIMIT_MS,
  );

  test.each(['rus', ...thoroughRows(['eng'])] as const)(
    'chooses the language of a page by its script: %s',
    async (language) => {
      const read = await nativePool.recognize(upload(scan(language), 'a.png'), ONE_PAGE);
      expect(read.recognition?.language).toBe(language);
      expect(recall(OCR_TEXTS[language]?.join(' ') ?? '', textOf(read))).toBeGreaterThanOrEqual(0.95);
    },
    TIME_LIMIT_MS,
  );

  test(
    'reads nothing on an empty page, whose script cannot be detected',
    async () => {
      const empty = drawPicture([], { width: 1650, height: 1100 });
      const options = { ...ONE_PAGE, languages: ['rus', 'kor'] as const };
      expect(await nativePool.recognize(upload(empty, 'a.png'), options)).toMatchObject({ paragraphs: [] });
    },
    TIME_LIMIT_MS,
  );

  test(
    'names the package of a language that is not installed',
    async () => {
      const pool = startPool({ native: { ...native, codes: ['osd', 'eng'] } });
      const work = pool.recognize(upload(scan('rus'), 'a.png'), { ...ONE_PAGE, languages: ['rus'] });
      await expect(work).rejects.toMatchObject({
        kind: 'not_configured',
        message: expect.stringMatching(/Russian \(rus\) is not installed.*apt-get install tesseract-ocr-rus/),
      });
    },
    TIME_LIMIT_MS,
  );

  test(
    'reports the error output of the program if its data is missing',
    async () => {
      const pool = startPool({ native: { ...native, dataFolder: folder }, languages: ['eng'] });
      await expect(pool.recognize(upload(HEADED, 'a.png'), ONE_PAGE)).rejects.toMatchObject({
        kind: 'not_configured',
        message: expect.stringMatching(/tesseract failed: .*eng.*Reinstall/s),
      });
    },
    TIME_LIMIT_MS,
  );
});

describe('the limits and the end of a program', () => {
  /**
   * Creates a program that writes its process id to a file and then runs for ten minutes.
   * @param megabytes memory that the program allocates
   */
  async function createEndlessProgram(
    name: string,
    megabytes: number,
  ): Promise<{ native: NativeTesseract; pid: () => Promise<number> }> {
    const program = path.join(folder, name);
    const pidFile = `${program}.pid`;
    const work = `globalThis.kept = Buffer.alloc(${megabytes} * 1024 * 1024, 1); setTimeout(() => {}, 600000)`;
    await writeFile(
      program,
      `#!/bin/sh\necho $$ > ${pidFile}.new\nmv ${pidFile}.new ${pidFile}\nexec ${process.execPath} -e '${work}'\n`,
    );
    await chmod(program, 0o755);
    const readPid = async (): Promise<number> => Number(existsSync(pidFile) ? await readFile(pidFile, 'utf8') : 0);
    return {
      native: { program, version: '5.3.0', dataFolder: null, codes: ['osd', 'eng'] },
      pid: () => waitFor(readPid, (pid) => pid > 0, TIME_LIMIT_MS),
    };
  }
  const hasEnded = (pid: number): Promise<boolean> =>
    waitFor(
      () => isAlive(pid),
      (alive) => !alive,
      TIME_LIMIT_MS,
    ).then(() => true);
  const isAlive = async (pid: number): Promise<boolean> => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    // A zombie has ended; its parent has not read its exit code yet.
    return stat !== null && !/\) Z /.test(stat);
  };
  const page = upload(HEADED, 'a.png');

  test(
    'a cancelled page ends its program',
    async () => {
      const { native: program, pid } = await createEndlessProgram('cancelled', 1);
      const stop = new AbortController();
      const work = startPool({ native: program, languages: ['eng'] }).recognize(page, ONE_PAGE, stop.signal);
      const running = await pid();
      stop.abort(new Error('cancelled'));
      await expect(work).rejects.toThrow('cancelled');
      expect(await hasEnded(running)).toBe(true);
    },
    TIME_LIMIT_MS,
  );

  test(
    'a page that exceeds the time limit ends its program',
    async () => {
      const { native: program, pid } = await createEndlessProgram('slow', 1);
      const work = startPool({ native: program, languages: ['eng'], timeoutMs: 5_000 }).recognize(page, ONE_PAGE);
      await expect(work).rejects.toMatchObject({
        kind: 'parse_limit',
        message: expect.stringMatching(/OCR_PAGE_TIMEOUT_MS/),
      });
      expect(await hasEnded(await pid())).toBe(true);
    },
    TIME_LIMIT_MS,
  );

  test(
    'a page whose program exceeds the memory limit ends the program',
    async () => {
      const { native: program, pid } = await createEndlessProgram('large', 900);
      const work = startPool({ native: program, languages: ['eng'] }).recognize(page, ONE_PAGE);
      await expect(work).rejects.toMatchObject({
        kind: 'parse_limit',
        message: expect.stringMatching(/OCR_MEMORY_MB/),
      });
      expect(await hasEnded(await pid())).toBe(true);
    },
    TIME_LIMIT_MS,
  );

  test(
    'a program ends with the process that started it, and with its pool',
    async () => {
      const { native: program, pid } = await createEndlessProgram('orphan', 1);
      const pool = startPool({ native: program, languages: ['eng'] });
      const work = pool.recognize(page, ONE_PAGE);
      const failure = work.catch((error: unknown) => error);
      const running = await pid();
      const status = await readFile(`/proc/${running}/status`, 'utf8');
      await rm(path.join(folder, 'orphan.pid'));
      process.kill(Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), 'SIGKILL');
      expect(await hasEnded(running)).toBe(true);
      // The page is tried once more, alone.
      const second = await pid();
      await pool.close();
      expect(await hasEnded(second)).toBe(true);
      await failure;
    },
    TIME_LIMIT_MS,
  );

  thoroughly(
    'a page is tried once more if a signal ended the program, and then fails',
    async () => {
      const { native: program, pid } = await createEndlessProgram('killed', 1);
      const failure = startPool({ native: program, languages: ['eng'] })
        .recognize(page, ONE_PAGE)
        .catch((error: unknown) => error);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const running = await pid();
        await rm(path.join(folder, 'killed.pid'));
        process.kill(running, 'SIGKILL');
      }
      expect(await failure).toMatchObject({ kind: 'parse_limit', message: expect.stringMatching(/died \(SIGKILL/) });
    },
    TIME_LIMIT_MS,
  );
});

describe('a deployment with OCR_ENGINE=native', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ OCR_ENGINE: 'native', OCR_LANGUAGES: 'eng' });
  });
  afterAll(() => service.close());

  test(
    'reads an upload',
    async () => {
      const user = await service.user('native');
      const content = await makePdf((pdf) => pdf.image(Buffer.from(HEADED), 50, 50, { width: 480 }));
      const { id } = await user.send({ name: 'scan.pdf', content }, { use_ocr: true });
      expect(await user.settled(id, TIME_LIMIT_MS)).toMatchObject({
        sync_status: 'READY',
        file_metadata: { ocr_pages: [1], ocr_languages: ['eng'] },
      });
      const [hit] = await user.search({ query: 'When was the harbour dredged?', k: 1, file_ids: [id] });
      expect(hit?.content).toContain('1902');
    },
    TIME_LIMIT_MS,
  );
});
