/** Tests of the OCR of a deferred file. Stores and the reader are fakes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createRecognizeActivities } from '../../activities/ingest/recognize.js';
import { Fault } from '../../contract/failures.js';
import { recorder } from '../support/recorder.js';

const FILE = {
  ...{ _id: 3, organizationId: 1, userId: 2, source: 'PDF', syncStatus: 'QUEUED_FOR_OCR', lastGeneration: 1 },
  ...{ generation: 0, attempts: 0, unfinishedStarts: 1, ocrPages: [1, 2, 3], original: { id: 'o', sha256: 'hash' } },
  ...{ statistics: { fileFormat: 'PDF', mimeType: 'application/pdf' }, fileMetadata: {}, dataSourceId: null },
  options: { ocrLanguages: ['deu'], parsePdfTablesWithOcr: true },
};

interface Trial {
  readonly file?: object | null;
  readonly stored?: readonly number[];
  readonly read?: (page: number) => unknown;
  readonly abort?: AbortController;
}
async function recognize({ file = {}, stored = [], read = () => undefined, abort = new AbortController() }: Trial) {
  let closed = 0;
  const { stores, of } = recorder({
    'files.beginOcr': file && { ...FILE, ...file },
    'originals.open': { bytes: Buffer.from('pdf'), close: async () => (closed += 1) },
    'recognizedPages.begin': new Set(stored),
  });
  const pages: number[] = [];
  const options: unknown[] = [];
  let active = 0;
  let highest = 0;
  const documents = {
    async recognize(_input: unknown, { page, ...rest }: { page: number }) {
      pages.push(page);
      options.push(rest);
      highest = Math.max(highest, (active += 1));
      await nextTurn();
      active -= 1;
      await read(page);
      return { number: page };
    },
  };
  const ignore = (): void => undefined;
  const deps = {
    ...{ store: stores, documents, log: { debug: ignore, info: ignore, error: ignore } },
    settings: { retryDelaysMs: [], ocr: { pagesAtOnce: 2, engine: 'wasm', languages: ['eng'], maxPages: 100 } },
  } as never;
  const { recognize: work } = createRecognizeActivities(deps);
  const end = await asyncLocalStorage
    .run({ cancellationSignal: abort.signal } as never, () => work({ runId: 7, fileId: 3 }))
    .catch((error: unknown) => error);
  const saved = of('recognizedPages.save').map(([, page]) => page as number);
  return { of, end, pages, options, highest, saved, closed };
}

test('the pages without a stored text are read and stored, with the options of the file and a limit of pages at once', async () => {
  const { of, end, pages, options, highest, saved, closed } = await recognize({ stored: [2] });
  expect([end, pages, saved, highest, closed]).toEqual([{ done: true }, [1, 3], [1, 3], 2, 1]);
  expect(options).toEqual([1, 3].map(() => ({ findTables: true, languages: ['deu'] })));
  expect(of('files.release')).toEqual([[7, [3]]]);
});

test('OCR does nothing for a file that was read in the meantime or that another run owns', async () => {
  const { of, end, pages } = await recognize({ file: null });
  expect([end, pages, of('files.release')]).toEqual([{ done: true }, [], []]);
});

test('a page that cannot be read ends its file, and pages that were read before stay stored', async () => {
  const read = (page: number) => {
    if (page === 3) throw new Fault('parse_limit', 'Page 3 took too long.');
  };
  const { of, end, saved, closed } = await recognize({ read });
  expect([end, saved, closed]).toEqual([{ done: false }, [1, 2], 1]);
  expect(of('files.fail').map(([runId, fileId, message]) => [runId, fileId, message])).toEqual([
    [7, 3, 'Page 3 took too long.'],
  ]);
  expect([of('files.recordCrash'), of('files.release')]).toEqual([[[7, 3, 'hash']], []]);
});

test('a content that crashed its reader or the worker too often is not read again', async () => {
  for (const file of [{ crashes: { hash: 'hash', count: 3 } }, { unfinishedStarts: 4 }]) {
    const { of, end, pages } = await recognize({ file });
    expect([end, pages, of('files.fail').length]).toEqual([{ done: false }, [], 1]);
  }
});

test('after a cancellation the file is released without a failure, and no crash is counted', async () => {
  const down = new Error('The reader does not start');
  const abort = new AbortController();
  const cancelled = await recognize({
    abort,
    read() {
      abort.abort(down);
      throw new Fault('parse_limit', 'It was aborted.');
    },
  });
  expect(cancelled.end).toBeInstanceOf(Error);
  expect([cancelled.of('files.release'), cancelled.of('files.fail'), cancelled.of('files.recordCrash')]).toEqual([
    ...[[[7, [3]]], [], []],
  ]);
});
