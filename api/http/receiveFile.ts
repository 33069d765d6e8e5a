import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { RequestHandler } from 'express';

import type { DraftOriginal } from '../../store/originals/originals.js';
import type { StoreFailure } from '../../contract/storeFailures.js';
import { HttpError, invalid } from './errors.js';
import { inspectText } from './inspect.js';
import { storeFailureOf } from './storeAnswers.js';
import type { ReceiveContent } from './requestContents.js';

/** A file of a form, kept and not yet anybody's. */
export interface ReceivedFile {
  /** As its sender calls it, without folders; '' for none. */
  readonly name: string;
  /** As its sender declares it; null for what says nothing. */
  readonly contentType: string | null;
  readonly draft: DraftOriginal;
}

/** The field of the form that holds the file. */
const FIELD = 'file';
/** What else may stand in a form, and around its parts. */
const LIMITS = { fields: 50, fieldSize: 64 * 1024, parts: 60, headerPairs: 100 } as const;
const AROUND_BYTES = 1_000_000;
/**
 * Bytes of a form that are parsed before the limits are looked at. The parser takes 5 to 10 µs for a part, and 16 KB hold
 * 3,000 empty ones.
 */
const SLICE_BYTES = 16_384;
/** A sender that says nothing for so long is given up. */
const SILENCE_MS = 60_000;
/** A sender that was answered early is listened to for so long: else its answer might be lost with the connection. */
const LINGER_MS = 5_000;
const ANY_TYPE = 'application/octet-stream';
const MAX_NAME = 1_024;

const missing = (): HttpError =>
  invalid(['body', FIELD], 'Send a form (multipart/form-data) with a file in the field file', 'missing');
const tooMany = (what: string): HttpError =>
  invalid(['body'], `The form holds more than ${what}. Send the file in the field file alone`, 'too_long');
const tooLarge = (): HttpError =>
  new HttpError(413, 'The file is larger than this server accepts (setting MAX_UPLOAD_BYTES).');
const broken = (): HttpError => new HttpError(400, 'The form could not be read: it ends early, or is not one.');
const silent = (): HttpError => new HttpError(400, 'Nothing came for a minute. Send the file again.');

/** Ends the connection of a request that was answered before all of it had come, soon after. */
export const closeEarlyAnswered: RequestHandler = (request, response, next) => {
  response.once('finish', () => {
    if (request.complete) return;
    setTimeout(() => {
      // One that has come to its end is over, and its connection may serve others by now.
      if (!request.complete) request.socket.destroy();
    }, LINGER_MS).unref();
  });
  next();
};

/**
 * Reads a form with one file and streams that to `receive`: no more than a part of it is ever in memory.
 * @throws HttpError 413 past maxBytes, 422 where there is no file or too much beside it, 400 for a form that can't be read
 */
export async function receiveFile(
  request: IncomingMessage,
  maxBytes: number,
  receive: ReceiveContent,
): Promise<ReceivedFile> {
  const { 'content-type': type = '', 'content-length': length, 'content-encoding': coding } = request.headers;
  if (!/^multipart\/form-data\s*;/i.test(type)) throw missing();
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Send the form plain, without a content-encoding.');
  if (Number(length ?? 0) > maxBytes + AROUND_BYTES) throw tooLarge();
  const file = await readForm(request, openForm(request, type, maxBytes), receive);
  inspectText({ [FIELD]: file.name }, 'body');
  return file;
}

/** Passes bytes on in slices, so that a form is left after the slice that holds too much. */
const inSlices = (): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) this.push(chunk.subarray(at, at + SLICE_BYTES));
      done();
    },
  });

function openForm(request: IncomingMessage, type: string, maxBytes: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': type },
      limits: { ...LIMITS, fileSize: maxBytes },
    });
  } catch {
    throw broken();
  }
}

async function readForm(
  request: IncomingMessage,
  form: BusboyInstance,
  receive: ReceiveContent,
): Promise<ReceivedFile> {
  const found: { stream: BusboyFileStream | null; file: Promise<ReceivedFile> | null } = { stream: null, file: null };
  let failure: unknown = null;
  const slices = inSlices();
  const ended = new Promise<void>((resolve) => {
    const fail = (reason: unknown): void => {
      failure ??= reason;
      slices.unpipe(form);
      request.unpipe(slices);
      // What still comes is passed over, so that the sender gets to its answer.
      request.resume();
      found.stream?.destroy(failure instanceof Error ? failure : broken());
      resolve();
    };
    form.on('file', (field, stream, name: string | undefined, _encoding, contentType) => {
      stream.on('error', () => fail(broken()));
      if (field !== FIELD || found.stream !== null) {
        stream.resume();
        return;
      }
      found.stream = stream;
      stream.once('limit', () => fail(tooLarge()));
      found.file = receive(stream).then((draft) => ({
        name: (name ?? '').slice(0, MAX_NAME),
        contentType: contentType === ANY_TYPE ? null : contentType,
        draft,
      }));
      found.file.catch(fail);
    });
    form.on('partsLimit', () => fail(tooMany(`${LIMITS.parts} parts`)));
    form.on('fieldsLimit', () => fail(tooMany(`${LIMITS.fields} fields`)));
    form.on('error', () => fail(broken()));
    form.on('finish', resolve);
    request.on('error', () => fail(broken()));
    request.on('close', () => {
      if (!request.complete) fail(broken());
    });
    request.setTimeout(SILENCE_MS, () => fail(silent()));
    request.pipe(slices).pipe(form);
  });
  await ended;
  request.setTimeout(0);
  // Awaited after a failure too: only a content that was received whole can be discarded.
  let storeFailure: StoreFailure | null = null;
  const file = await found.file?.catch((error: unknown) => {
    storeFailure = storeFailureOf(error);
    return null;
  });
  // A store that fails ends the stream of the file, which the form reports before the store's own error arrives.
  if (storeFailure !== null) throw storeFailure as StoreFailure;
  if (failure !== null) {
    // The reason is thrown on as it is: a store's fault must stay one.
    // oxlint-disable-next-line typescript/only-throw-error
    throw failure;
  }
  if (!file) throw missing();
  return file;
}
