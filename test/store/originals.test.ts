import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createFolderBlobs } from '../../store/contents/blobs.js';
import { createS3Blobs } from '../../store/contents/s3Blobs.js';
import { originalModel } from '../../store/models/originals.js';
import { createOriginals, type Originals } from '../../store/originals/originals.js';
import { createTranscripts } from '../../store/originals/transcripts.js';
import { createSequence } from '../../store/database/sequence.js';
import { type S3Emulator, startS3 } from '../emulators/s3.js';
import { testEngines } from '../support/engines.js';
import { waitFor } from '../support/waitFor.js';

const ROW_BYTES = 100;
const SIZES = { 'rows of MongoDB': 80, 'a folder': 3_000_000, 'a bucket': 20_000_000 };
type Place = keyof typeof SIZES;
const places = Object.keys(SIZES) as Place[];
const owner = { organizationId: 1, userId: 2 };

let folder: string;
let s3: S3Emulator;
let connection: Connection;
let stores: Record<Place, Originals>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-originals-'));
  s3 = await startS3();
  connection = await mongoose
    .createConnection(testEngines().mongodbUri, { dbName: `originals-${randomUUID()}` })
    .asPromise();
  const rows = originalModel(connection);
  const sequence = createSequence(connection);
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const bucket = createS3Blobs({ bucket: 'originals', endpoint: s3.endpoint, region: 'us-east-1', credentials });
  const inFolder = createOriginals(rows, createFolderBlobs(folder), sequence, ROW_BYTES);
  stores = {
    'rows of MongoDB': inFolder,
    'a folder': inFolder,
    'a bucket': createOriginals(rows, bucket, sequence, ROW_BYTES),
  };
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
  await rm(folder, { recursive: true });
  await s3.close();
});

/** Yields the given number of bytes in parts of uneven length. */
async function* parts(size: number, fault?: Error): AsyncIterable<Uint8Array> {
  for (let at = 0; at < size;) {
    const length = Math.min(size - at, 1 + ((at * 7) % 700_000));
    yield await Promise.resolve(Buffer.alloc(length, at % 251));
    at += length;
  }
  if (fault) throw fault;
}
async function whole(content: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const received: Uint8Array[] = [];
  for await (const part of content ?? []) received.push(part);
  return Buffer.concat(received);
}
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const accept = (originals: Originals, draft: Awaited<ReturnType<Originals['receive']>>, fileId: number) =>
  connection.transaction((session) => originals.accept(draft, fileId, session));
/** Returns the names of objects and of unfinished uploads in the folder and the bucket. */
const inStorage = async (): Promise<string[]> => [
  ...(await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name),
  ...s3.objects.keys(),
  ...s3.inProgress(),
];
const rows = () => connection.collection('originals').countDocuments();

describe.each(places)('originals in %s', (place) => {
  const size = SIZES[place];
  const fileId = 100 + places.indexOf(place);
  const file = { ...owner, fileId };

  test('are hashed on receipt, and returned unchanged in memory, as a stream or as a file', async () => {
    const originals = stores[place];
    const draft = await originals.receive(owner, parts(size));
    const sent = await whole(parts(size));
    expect(draft).toMatchObject({ size, sha256: hashOf(sent), owner });
    expect(sent.subarray(0, draft.head.length).equals(draft.head)).toBe(true);
    expect(draft.head.length).toBe(Math.min(size, 65_536));
    await accept(originals, draft, fileId);
    expect(hashOf(await whole(await originals.stream(file, draft.id)))).toBe(draft.sha256);
    const opened = await originals.open(file, draft.id);
    const bytes = opened && ('bytes' in opened ? opened.bytes : await readFile(opened.path));
    expect(hashOf(bytes ?? new Uint8Array())).toBe(draft.sha256);
    await opened?.close();
    // Not readable for another file or another organization.
    expect(await originals.open({ ...file, fileId: 1 }, draft.id)).toBeNull();
    expect(await originals.stream({ ...file, organizationId: 9 }, draft.id)).toBeNull();
    // A discard or sweep after the acceptance does not delete the original.
    await originals.discard(draft);
    expect(await originals.sweep(Date.now() + 3_600_000)).toBe(0);
    expect(await originals.countOf(owner, [fileId])).toBe(1);
    await originals.deleteOf(owner, [fileId]);
    expect([await inStorage(), await rows()]).toEqual([[], 0]);
  });

  test('are deleted completely when interrupted, discarded or replaced', async () => {
    const originals = stores[place];
    await expect(originals.receive(owner, parts(size, new Error('interrupted')))).rejects.toThrow('interrupted');
    await originals.discard(await originals.receive(owner, parts(size)));
    expect([await inStorage(), await rows()]).toEqual([[], 0]);
    const draft = await originals.receive(owner, parts(size));
    await accept(originals, draft, fileId);
    await connection.transaction((session) => originals.release(file, draft.id, session));
    expect(await originals.open(file, draft.id)).toBeNull();
    expect(await originals.sweep()).toBe(1);
    expect([await inStorage(), await rows()]).toEqual([[], 0]);
  });

  test('are not accepted in a failed transaction, and can be discarded afterwards', async () => {
    const originals = stores[place];
    const draft = await originals.receive(owner, parts(size));
    const failing = connection.transaction(async (session) => {
      await originals.accept(draft, fileId, session);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await originals.countOf(owner, [fileId])).toBe(0);
    await originals.discard(draft);
    expect([await inStorage(), await rows()]).toEqual([[], 0]);
  });
});

describe.each(['a folder', 'a bucket'] as const)('upload to %s by an API process that no longer responds', (place) => {
  test('is deleted by the sweep after its time limit, including unfinished uploads in a bucket', async () => {
    const originals = stores[place];
    let resume: () => void = () => undefined;
    const resumed = new Promise<void>((resolve) => (resume = resolve));
    async function* stalling(): AsyncIterable<Uint8Array> {
      yield Buffer.alloc(9_000_000, 1);
      await resumed;
      yield Buffer.alloc(1_000, 2);
    }
    const receiving = originals.receive(owner, stalling());
    await waitFor(inStorage, (names) => names.length > 0);
    expect(await originals.sweep()).toBe(0);
    expect(await originals.sweep(Date.now() + 3_600_000)).toBe(1);
    expect(await rows()).toBe(0);
    // If the process was only slow, the rest of its upload is refused and not stored.
    resume();
    const draft = await receiving.catch(() => null);
    if (draft) {
      await expect(accept(originals, draft, 7)).rejects.toThrow('was deleted before it was accepted');
      await originals.discard(draft);
    }
    expect(await inStorage()).toEqual([]);
  });
});

/** Milliseconds without a heartbeat after which an upload counts as abandoned. */
const DEAD_AFTER_MS = 90_000;

test('a slow upload sends heartbeats, so that it is not swept', async () => {
  const originals = stores['a folder'];
  const timers = jest.spyOn(globalThis, 'setInterval');
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => (resume = resolve));
  async function* slow(): AsyncIterable<Uint8Array> {
    yield Buffer.alloc(5_000, 1);
    await resumed;
    yield Buffer.alloc(1_000, 2);
  }
  const receiving = originals.receive(owner, slow());
  await waitFor(inStorage, (names) => names.length > 0);
  const [[beat, everyMs] = []] = timers.mock.calls;
  timers.mockRestore();
  expect(everyMs).toBeLessThanOrEqual(DEAD_AFTER_MS / 3);
  // Set the last heartbeat just within the time limit; the upload survives only if it sends another.
  const records = connection.collection('originals');
  const nearTimeLimit = new Date(Date.now() - DEAD_AFTER_MS + 1_000);
  await records.updateMany({ fileId: null }, { $set: { aliveAt: nearTimeLimit } });
  beat?.();
  await waitFor(
    () => records.findOne({ fileId: null }),
    (row) => row?.['aliveAt'] > nearTimeLimit,
    10_000,
  );
  expect(await originals.sweep(Date.now() + 10_000)).toBe(0);
  resume();
  const draft = await receiving;
  await accept(originals, draft, 9);
  await originals.deleteOf(owner, [9]);
  expect([await inStorage(), await rows()]).toEqual([[], 0]);
});

test('deletes all originals of a user, and none of other users', async () => {
  const originals = stores['a folder'];
  const otherUser = { organizationId: 1, userId: 3 };
  for (const [tenant, fileId] of [
    [owner, 1],
    [owner, 2],
    [otherUser, 3],
  ] as const)
    for (const size of [50, 5_000]) await accept(originals, await originals.receive(tenant, parts(size)), fileId);
  await originals.deleteAll(owner);
  expect([await originals.countOf(owner, [1, 2]), await originals.countOf(otherUser, [3])]).toEqual([0, 2]);
  await originals.deleteAll(otherUser);
  expect([await inStorage(), await rows()]).toEqual([[], 0]);
});

test('a transcript replaces the job that computes it, and both belong to one recording of one user', async () => {
  const originals = stores['rows of MongoDB'];
  const draft = await originals.receive(owner, parts(10));
  await accept(originals, draft, 300);
  const transcripts = createTranscripts(originalModel(connection));
  const recording = { ...owner, fileId: 300, originalId: draft.id };
  const others = [{ userId: 3 }, { organizationId: 2 }, { fileId: 301 }].map((other) => ({ ...recording, ...other }));
  expect(await transcripts.find(recording)).toEqual({ transcript: null, job: null });
  const job = { service: 'deepgram', options: {}, id: 'job' } as never;
  for (const other of others) await transcripts.saveJob(other, job);
  expect(await transcripts.find(recording)).toEqual({ transcript: null, job: null });
  await transcripts.saveJob(recording, job);
  expect(await transcripts.find(recording)).toEqual({ transcript: null, job });
  const transcript = { service: 'deepgram', options: {}, segments: ['größer'] } as never;
  for (const other of others) await transcripts.save(other, transcript);
  await transcripts.save(recording, transcript);
  expect(await transcripts.find(recording)).toEqual({ transcript, job: null });
  for (const other of others) expect(await transcripts.find(other)).toBeNull();
  await originals.deleteAll(owner);
});
