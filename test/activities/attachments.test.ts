/** Tests of which attachments of a file become files. Stores are fakes. */
import { expect, test } from '@jest/globals';

import { acceptAttachments } from '../../activities/ingest/prepare/attachments.js';
import { Fault } from '../../contract/failures.js';
import { recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 2 };
const PARENT = {
  ...{
    _id: 3,
    ...ADA,
    customerId: 'c',
    externalFileId: 'mail',
    accountId: 'account',
    tags: [],
    options: { useOcr: true },
  },
  ...{ sourceOptions: null, requestId: 'r', workflowId: 'w', uploadId: 'u', ocrProperties: {} },
  ...{ supportsColdStorage: true, hotStorageTimeToLive: 9 },
};
const attachment = (name: string) => ({ name, contentType: 'text/plain', bytes: Buffer.from(name) });

interface Trial {
  readonly found?: readonly string[];
  readonly parent?: object;
  readonly children?: readonly object[];
  readonly limit?: number | null;
  /** Number of files that the run has already. */
  readonly files?: number;
}
async function accept({ found = ['a', 'b'], parent = {}, children = [], limit = null, files = 1 }: Trial) {
  const { stores, of } = recorder({
    'files.ids': children.map((_, index) => index),
    'files.byIds': children,
    'files.countRun': { total: files },
    'files.accept': { file: { _id: 30 } },
    'limits.get': { max_files_per_upload: limit },
    'originals.receive': async (_owner: unknown, body: AsyncIterable<Uint8Array>) => {
      let id = '';
      for await (const part of body) id += Buffer.from(part).toString();
      return { id, size: id.length, sha256: `hash of ${id}` };
    },
  });
  const store = {
    ...(stores as object),
    transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
  };
  const identify = ({ name }: { name: string }) => {
    if (name.startsWith('unreadable')) throw new Fault('unsupported_type', 'It cannot be read.');
    return { format: 'TXT', mimeType: 'text/plain' };
  };
  const deps = { store, identify } as never;
  const summary = await acceptAttachments(7, { ...PARENT, ...parent } as never, found.map(attachment), deps);
  const accepted = of('files.accept').map(([, file]) => file as Readonly<Record<string, unknown>>);
  return { of, summary, accepted, ids: accepted.map(({ externalFileId }) => externalFileId) };
}

test('each attachment becomes a file of the same run and account, with the options of its parent', async () => {
  const { summary, accepted, of } = await accept({});
  expect(summary).toEqual({});
  expect(accepted[1]).toMatchObject({
    ...{ externalFileId: 'mail/1', name: 'b', parentId: 3, accountId: 'account', runId: 7, options: PARENT.options },
    sourceOptions: { url: null, contentType: 'text/plain', depth: 1 },
    upload: { uploadId: 'u', original: { id: 'b', size: 1, sha256: 'hash of b' }, supportsColdStorage: true },
  });
  expect(of('originals.accept').map(([draft, fileId]) => [(draft as { id: string }).id, fileId])).toEqual([
    ['a', 30],
    ['b', 30],
  ]);
  expect(of('originals.discard')).toHaveLength(2);
});

test('an unreadable attachment is skipped with the reason, and the others become files; at most 20 are named', async () => {
  const one = await accept({ found: ['unreadable', 'b'] });
  const skipped = { name: 'unreadable', reason: 'It cannot be read.' };
  expect([one.summary, one.ids]).toEqual([{ attachments_skipped: [skipped] }, ['mail/1']]);
  const many = await accept({ found: Array.from({ length: 25 }, (_, nth) => `unreadable ${nth}`) });
  expect(many.summary.attachments_skipped).toHaveLength(20);
});

test('attachments are nested at most four files deep', async () => {
  expect((await accept({ parent: { sourceOptions: { depth: 3 } } })).accepted[0]).toMatchObject({
    sourceOptions: { depth: 4 },
  });
  const deeper = await accept({ parent: { sourceOptions: { depth: 4 } } });
  expect([deeper.ids, deeper.summary.attachments_skipped?.length]).toEqual([[], 2]);
});

test('attachments fill the limit of files per upload, and the limit is reported only if one exceeds it', async () => {
  const over = await accept({ limit: 3, files: 2 });
  expect([over.ids, over.summary]).toEqual([['mail/0'], { limit_reached: 'max_files_per_upload' }]);
  const full = await accept({ limit: 3, files: 1 });
  expect([full.ids, full.summary]).toEqual([['mail/0', 'mail/1'], {}]);
  // An earlier attempt of the run accepted `mail/0`, which is one of the two files. An unreadable attachment does not
  // count.
  const repeated = await accept({ limit: 3, files: 2, children: [{ externalFileId: 'mail/0', runId: 7 }] });
  expect([repeated.ids, repeated.summary]).toEqual([['mail/1'], {}]);
  const unreadable = await accept({ found: ['unreadable', 'b'], limit: 3, files: 2 });
  expect([unreadable.ids, unreadable.summary]).toMatchObject([['mail/1'], { attachments_skipped: [{}] }]);
});

test('an attachment that an earlier sync found keeps its stored content if it is the same, else replaces it', async () => {
  const child = (sha256: string) => ({
    ...{ externalFileId: 'mail/0', runId: 6, original: { id: 'old', size: 1, sha256 }, statistics: { fileSize: 1 } },
  });
  const same = await accept({ found: ['a'], children: [child('hash of a')] });
  expect(same.accepted).toMatchObject([{ upload: { original: { id: 'old' } } }]);
  expect([same.of('originals.accept'), same.of('originals.release'), same.of('originals.discard').length]).toEqual([
    ...[[], [], 1],
  ]);
  const changed = await accept({ found: ['a'], children: [child('hash of z')] });
  expect(changed.accepted).toMatchObject([{ upload: { original: { id: 'a' } } }]);
  expect(changed.of('originals.release')).toEqual([[{ ...ADA, fileId: 30 }, 'old', null]]);
});
