import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { makePdf } from '../documents/formats/makePdf.js';
import { readStoredState } from '../support/storedState.js';
import type { TestUser } from '../support/client.js';
import { drawPicture } from '../support/pictures.js';
import { startProcess } from '../support/processes.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

let service: TestService;
let worker: Awaited<ReturnType<typeof startProcess>>;
let user: TestUser;
let connection: mongoose.Connection;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  worker = await startProcess('worker/main', service.env, true);
  user = await service.user('kil');
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
});
afterAll(async () => {
  await connection.close();
  await worker.stop();
  await service.close();
});

const PAGES = 6;
const lineOf = (page: number): string => `Harbour number ${page} was dredged in 1902.`;

test('resumes OCR after its worker was killed: stores each page once, and recognizes no stored page again', async () => {
  const pdf = await makePdf((page) => {
    for (let nth = 1; nth <= PAGES; nth += 1) {
      if (nth > 1) page.addPage();
      page.image(Buffer.from(drawPicture([lineOf(nth)])), 50, 50, { width: 480 });
    }
  });
  const { id } = await user.send({ name: 'scan.pdf', content: pdf }, { use_ocr: true, set_page_as_boundary: true });
  const rows = () => connection.collection('recognized_pages').find({ fileId: id }).sort({ number: 1 }).toArray();
  const before = await waitFor(rows, (kept) => kept.length > 0);
  // Replaces the stored text by a mark, which would be overwritten if the page were recognized again.
  const marked = before.map(({ number }) => Number(number));
  const markOf = (page: number): string => `Page ${page} was read before.`;
  for (const { _id, number } of before) {
    const line = 'page.paragraphs.0.lines.0.text';
    await connection.collection('recognized_pages').updateOne({ _id }, { $set: { [line]: markOf(Number(number)) } });
  }
  await worker.kill();
  expect(await user.file(id)).toMatchObject({ sync_status: 'QUEUED_FOR_OCR' });

  const ready = await waitFor(
    () => user.file(id),
    ({ sync_status }) => sync_status === 'READY',
    180_000,
  );
  expect(ready.ocr_job_started_at).not.toBeNull();
  const after = await rows();
  expect(after.map(({ number }) => Number(number))).toEqual(Array.from({ length: PAGES }, (_, nth) => nth + 1));
  const { results } = await user.chunks({ ids: [id] });
  expect(results.map(({ source_content }) => source_content)).toEqual(
    after.map((_, nth) => (marked.includes(nth + 1) ? markOf(nth + 1) : lineOf(nth + 1))),
  );
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
}, 300_000);
