import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type Site, startSite } from '../../emulators/site.js';
import { makePdf } from '../../documents/formats/makePdf.js';
import { readStoredState } from '../../support/storedState.js';
import { apiClient, type NamedFile, type TestUser } from '../../support/client.js';
import { jbig2Bomb } from '../../support/jbig2.js';
import { type Drawn, drawPicture } from '../../support/pictures.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

let service: TestService;
let user: TestUser;
let site: Site;

beforeAll(async () => {
  site = await startSite();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: site.host,
    MAX_OCR_PAGES: '3',
    MAX_OCR_PIXELS: '4000000',
    OCR_CONCURRENCY: '1',
    OCR_MEMORY_MB: '1024',
  });
  user = await service.user('ora');
});
afterAll(async () => {
  await service.close();
  await site.close();
});

/** OCR takes a second or two per page on an idle machine. */
const TIME_LIMIT_MS = 120_000;
const LINES = ['The lighthouse was lit in 1901.', 'Ships of 3,400 tons may enter.'];
const TABLE: Drawn[] = [
  ['Port', 'Depth', 'Ships'],
  ['Kinsale', '7.4', '1204'],
  ['Cobh', '11.2', '3981'],
  ['Youghal', '4.9', '310'],
].map((row) => row.map((text, nth) => [60 + 350 * nth, text] as const));
const ROWS = [
  'Port: Kinsale, Depth: 7.4, Ships: 1204',
  'Port: Cobh, Depth: 11.2, Ships: 3981',
  'Port: Youghal, Depth: 4.9, Ships: 310',
].join('\n');

const WITH_OCR = { use_ocr: true };
const read = async (file: NamedFile, query: Record<string, unknown> = WITH_OCR): Promise<FileRecord> =>
  user.settled((await user.send(file, query)).id, TIME_LIMIT_MS);
const parsedOf = async ({ id }: FileRecord): Promise<string> => {
  const { body } = await user.get<{ presigned_url: string }>(`/parsed_file/${id}`);
  return (await fetch(body.presigned_url)).text();
};
const chunksOf = async ({ id }: FileRecord) =>
  (await user.chunks({ ids: [id] })).results.map(({ source_content, content_metadata }) => ({
    source_content,
    content_metadata,
  }));
/** Draws a page that is an image of some lines. */
const scan = (pdf: PDFKit.PDFDocument, lines: readonly Drawn[], type: 'png' | 'jpeg' = 'jpeg') =>
  pdf.image(Buffer.from(drawPicture(lines, { type })), 50, 50, { width: 480 });

test.each([
  ['jpeg', 'picture.jpg', 'JPG', 'JPG'],
  ...thoroughRows([
    ['png', 'picture.png', 'PNG', 'PNG'],
    ['jpeg', 'picture.jpeg', 'JPEG', 'JPG'],
  ]),
] as const)(
  'reads a picture (%s, %s) and returns the position of its text in pixels; a resync does not read it again, and a delete removes the recognized page',
  async (type, name, source, format) => {
    const file = await user.send({ name, content: drawPicture(LINES, { type }) }, WITH_OCR);
    expect(file).toMatchObject({ source, ocr_job_started_at: null, ocr_properties: { use_ocr: true } });
    const ready = await user.settled(file.id, TIME_LIMIT_MS);
    expect(ready).toMatchObject({
      sync_status: 'READY',
      ocr_job_started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      file_statistics: { file_format: format },
      file_metadata: { ocr_pages: [1] },
    });
    expect(await parsedOf(ready)).toBe(LINES.join(' '));
    const [chunk] = await chunksOf(ready);
    expect(chunk?.content_metadata).toMatchObject({ pg_start: 1, pg_end: 1 });
    const { x1, x2, y1, y2 } = (chunk?.content_metadata ?? {}) as Record<string, number>;
    // The picture is 1200 x 700; its lines begin at 60, and their letters reach from about 38 to 122.
    expect([x1, y1].map((value) => Math.round((value ?? 0) / 20) * 20)).toEqual([60, 40]);
    expect([x2, y2].map((value) => Math.round((value ?? 0) / 20) * 20)).toEqual([540, 120]);
    const [hit] = await user.search({ query: 'When was the lighthouse lit?', k: 1, file_ids: [ready.id] });
    expect(hit?.content).toContain('1901');

    await user.post('/resync_file', { file_id: file.id, chunk_size: 8, chunk_overlap: 0 });
    const again = await user.settled(file.id, TIME_LIMIT_MS);
    expect(again).toMatchObject({ sync_status: 'READY', ocr_job_started_at: ready.ocr_job_started_at });
    expect((await chunksOf(again)).length).toBeGreaterThan(1);
    const tenant = { organizationId: 1, userId: file.organization_user_id ?? 0 };
    const storedPages = (): Promise<number> => service.store.recognizedPages.countOf(tenant, [file.id]);
    expect(await storedPages()).toBe(1);
    await user.post('/delete_files_v2', { filters: { ids: [file.id] } });
    await waitFor(storedPages, (count) => count === 0, TIME_LIMIT_MS);
  },
  240_000,
);

test('runs OCR only on the scanned pages of a PDF, includes text typed on them, and gives the chunk its pages', async () => {
  const pdf = await makePdf((page) => {
    page.text('Typed words on the first page.');
    page.addPage();
    const covering = drawPicture(LINES, { height: 1000 });
    page.image(Buffer.from(covering), 0, 0, { width: 612 }).text('Page 2 of 3', 300, 600);
    page.addPage().text('Typed words on the last page.');
  });
  const ready = await read({ name: 'mixed.pdf', content: pdf });
  expect(ready).toMatchObject({ sync_status: 'READY', file_metadata: { pages: 3, ocr_pages: [2] } });
  expect(await parsedOf(ready)).toBe(
    ['Typed words on the first page.', [...LINES, 'Page 2 of 3'].join(' '), 'Typed words on the last page.'].join(
      '\n\n',
    ),
  );
  expect(await chunksOf(ready)).toMatchObject([{ content_metadata: { pg_start: 1, pg_end: 3 } }]);
}, 180_000);

thoroughly(
  'reads tables of scanned and typed pages as rows in chunks of their own',
  async () => {
    const pdf = await makePdf((page) => {
      scan(page, [LINES[0] ?? '', ...TABLE, 'After the table there are words.']);
      page.addPage().fontSize(12).text('Typed words.');
      TABLE.forEach((row, nth) => {
        for (const [x, text] of row as (readonly [number, string])[]) page.text(text, 72 + x / 3, 150 + 24 * nth);
      });
    });
    const query = { ...WITH_OCR, parse_pdf_tables_with_ocr: true };
    const chunks = await chunksOf(await read({ name: 'tables.pdf', content: pdf }, query));
    expect(chunks.map(({ source_content }) => source_content)).toEqual([
      LINES[0],
      ROWS,
      'After the table there are words.\n\nTyped words.',
      ROWS,
    ]);
    expect(chunks.map(({ content_metadata }) => content_metadata['block_types'])).toEqual([
      undefined,
      ['TABLE'],
      undefined,
      ['TABLE'],
    ]);
    expect(chunks.map(({ content_metadata }) => content_metadata['pg_start'])).toEqual([1, 1, 1, 2]);
  },
  180_000,
);

test('does not run OCR on a PDF with text, and gives the position of its chunks', async () => {
  const ready = await read({ name: 'typed.pdf', content: await makePdf((page) => page.text('Typed words.')) });
  expect(ready).toMatchObject({ sync_status: 'READY', ocr_job_started_at: null });
  expect(await chunksOf(ready)).toMatchObject([{ content_metadata: { pg_start: 1, pg_end: 1, x1: 72 } }]);
}, 120_000);

/** A PNG whose header declares this size. */
function bomb(width: number, height: number): Uint8Array {
  const png = Buffer.from(drawPicture(LINES));
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

thoroughly('accepts use_textract in /upload_file_from_url as use_ocr', async () => {
  site.pages.set('/lit.png', { type: 'image/png', body: Buffer.from(drawPicture(LINES)) });
  const { body } = await user.post<FileRecord>('/upload_file_from_url', {
    url: site.url('/lit.png'),
    use_textract: true,
  });
  const file = await user.settled(body.id, TIME_LIMIT_MS);
  expect(file).toMatchObject({ sync_status: 'READY', ocr_properties: { use_ocr: true } });
  expect(await parsedOf(file)).toBe(LINES.join(' '));
});

describe('unreadable files that end with an error', () => {
  const cut = (content: Uint8Array, part: number): Uint8Array => content.slice(0, content.length * part);
  test.each<[string, () => Uint8Array | Promise<Uint8Array>, string, RegExp]>([
    ['a picture without text', () => drawPicture([]), 'blank.png', /^No text was found in the picture/],
    ['a bomb', () => bomb(60_000, 60_000), 'bomb.png', /60000 x 60000 pixels.*MAX_OCR_PIXELS/],
    // Other suites pass them to the readers in every run: test/documents/ocr/readPicture.test.ts pictures that are too
    // small or broken, test/system/contents/ocrFiles.test.ts JBIG2 bombs and truncated pictures.
    ...thoroughRows<[string, () => Uint8Array | Promise<Uint8Array>, string, RegExp]>([
      ['a pixel', () => drawPicture([], { width: 1, height: 1 }), 'pixel.png', /1 x 1 pixels: too small to hold text/],
      ['a broken JPEG', () => cut(drawPicture(LINES, { type: 'jpeg' }), 0.02), 'cut.jpg', /^The picture is broken/],
      ['a PNG of a header alone', () => drawPicture(LINES).slice(0, 20), 'cut.png', /^The picture is broken/],
      ['a JBIG2 bomb', () => jbig2Bomb(60_000), 'jbig2.pdf', /could not be read within .*OCR_MEMORY_MB.*Split it/],
    ]),
    [
      'too many scanned pages',
      () =>
        makePdf((pdf) => {
          for (let n = 0; n < 3; n += 1) pdf.addPage();
        }),
      'long.pdf',
      /^4 pages of the PDF.*MAX_OCR_PAGES/,
    ],
    [
      'a PDF of blank pages',
      () => makePdf(() => undefined),
      'blank.pdf',
      /^There is no text in the PDF, and none was found/,
    ],
    ['a broken PDF', () => Buffer.from('%PDF-1.7\nnothing else'), 'broken.pdf', /can't be read as a PDF/],
  ])(
    '%s',
    async (_what, content, name, sentence) => {
      const file = await read({ name, content: await content() });
      expect(file).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.stringMatching(sentence) });
    },
    180_000,
  );
});

test.each([
  ['picture.png', () => drawPicture(LINES)],
  ['scan.pdf', () => makePdf((pdf) => scan(pdf, LINES))],
] as const)(
  'reads nothing in %s without use_ocr, even with parse_pdf_tables_with_ocr',
  async (name, content) => {
    const file = await read({ name, content: await content() }, { parse_pdf_tables_with_ocr: true });
    expect(file).toMatchObject({ sync_status: 'SYNC_ERROR', ocr_job_started_at: null });
    expect(file.sync_error_message).toMatch(/use_ocr/);
  },
  60_000,
);

test('ignores parse_pdf_tables_with_ocr without use_ocr in a PDF with typed tables', async () => {
  const content = await makePdf((page) => {
    page.fontSize(12).text('Typed words.');
    TABLE.forEach((row, nth) => {
      for (const [x, text] of row as (readonly [number, string])[]) page.text(text, 72 + x / 3, 150 + 24 * nth);
    });
  });
  const chunks = async (query: Record<string, unknown>) => chunksOf(await read({ name: 'typed.pdf', content }, query));
  const without = await chunks({});
  expect(without.map(({ source_content }) => source_content).join('\n')).not.toContain('Port: Kinsale');
  expect(await chunks({ parse_pdf_tables_with_ocr: true })).toEqual(without);
});

test('reads texts while files wait for OCR, and ends a cancelled file as SYNC_ABORTED', async () => {
  const pages = await makePdf((pdf) => {
    for (let nth = 0; nth < 2; nth += 1) {
      if (nth > 0) pdf.addPage();
      scan(
        pdf,
        Array.from({ length: 8 }, (_, line) => `Line ${line} of page ${nth} on the dredging of harbours.`),
      );
    }
  });
  const scans: FileRecord[] = [];
  // The first file is in OCR, and the second one waits for it (OCR_CONCURRENCY).
  for (let nth = 0; nth < 2; nth += 1)
    scans.push(await user.send({ name: `scan${nth}.pdf`, content: pages }, WITH_OCR));
  const last = scans.at(-1)?.id ?? 0;
  const queued = await waitFor(
    () => user.file(last),
    ({ sync_status }) => sync_status === 'QUEUED_FOR_OCR',
  );
  expect(queued.ocr_job_started_at).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect((await user.post('/resync_file', { file_id: last })).status).toBe(409);
  const text = await user.send({ name: 'note.txt', content: 'A note.' }, { skip_embedding_generation: true });
  expect((await user.settled(text.id)).sync_status).toBe('READY');
  expect((await user.file(last)).sync_status).toBe('QUEUED_FOR_OCR');
  expect((await user.post('/cancel_sync', { file_id: last })).status).toBe(200);
  expect((await user.settled(last, TIME_LIMIT_MS)).sync_status).toBe('SYNC_ABORTED');
  for (const { id } of scans.slice(0, -1)) expect((await user.settled(id, TIME_LIMIT_MS)).sync_status).toBe('READY');
}, 400_000);

thoroughly(
  'leaves no file, page or content of a user deleted while a file is in OCR',
  async () => {
    const deletedUser = await service.user('ocr-gone');
    const pages = await makePdf((pdf) => {
      for (let nth = 0; nth < 3; nth += 1) scan(nth === 0 ? pdf : pdf.addPage(), [`Page ${nth} of a scan.`, ...LINES]);
    });
    const { id, organization_user_id } = await deletedUser.send({ name: 'gone.pdf', content: pages }, WITH_OCR);
    const tenant = { organizationId: 1, userId: organization_user_id ?? 0 };
    const { recognizedPages, runs } = service.store;
    await waitFor(
      () => recognizedPages.countOf(tenant, [id]),
      (storedPages) => storedPages > 0,
      400_000,
    );
    const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
    expect((await organization.post('/delete_users', { customer_ids: ['ocr-gone'] })).status).toBe(200);
    expect((await deletedUser.get('/whoami')).status).toBe(401);
    const later = new Date(Date.now() + 60_000);
    await waitFor(
      async () => [...(await runs.listUnstarted(later, 1)), ...(await runs.listActiveStartedUntil(later, 1))],
      (inProgress) => inProgress.length === 0,
      TIME_LIMIT_MS,
    );
    const stores = await readStoredState(service.env);
    expect(stores.content('ocr-gone')).toEqual({ files: [], segments: [], points: [], contents: [] });
    expect(stores.findInconsistencies()).toEqual([]);
    expect(await recognizedPages.countOf(tenant, [id])).toBe(0);
  },
  900_000,
);
