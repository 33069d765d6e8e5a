import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { RequestHandler } from 'express';

import type { DraftOriginal } from '../../../store/originals/originals.js';
import type { StoreFailure } from '../../../contract/storeFailures.js';
import { HttpError, invalid } from '../errors.js';
import { inspectText } from './inspect.js';
import { storeFailureOf } from '../answers/storeAnswers.js';
import type { ReceiveContent } from './requestContents.js';
import { MAX_UNKNOWN, type UnknownField } from '../unknownFields/fieldTree.js';

/** A file from a form. Its content is stored, but belongs to no record yet. */
export interface ReceivedFile {
  /** File name given by the sender, without folders; '' for none. */
  readonly name: string;
  /** Media type declared by the sender; null for generic ones. */
  readonly contentType: string | null;
  readonly draft: DraftOriginal;
}

/** Name of the form field that contains the file. */
const FIELD = 'file';
/** Limits of the other fields of a form, and of its headers. */
const LIMITS = { fields: 50, fieldSize: 64 * 1024, parts: 60, headerPairs: 100 } as const;
const OVERHEAD_BYTES = 1_000_000;
/**
 * Number of bytes of a form that are parsed between checks of the limits. The parser takes 5 to 10 µs per part, and 16
 * KB hold 3,000 empty parts.
 */
const SLICE_BYTES = 16_384;
/** Time without data, in milliseconds, after which an upload is aborted. */
const IDLE_MS = 60_000;
/**
 * Milliseconds for which data is still accepted after an early response. If the connection were closed at once, the
 * response could be lost.
 */
const LINGER_MS = 5_000;
const ANY_TYPE = 'application/octet-stream';
const MAX_NAME = 1_024;

const missing = (): HttpError =>
  invalid(['body', FIELD], 'Send a form (multipart/form-data) with a file in the field file', 'missing');
const tooMany = (what: string): HttpError =>
  invalid(['body'], `The form contains more than ${what}. Send the file in the field file alone`, 'too_long');
const tooLarge = (): HttpError =>
  new HttpError(413, 'The file is larger than this server accepts (setting MAX_UPLOAD_BYTES).');
const broken = (): HttpError =>
  new HttpError(400, 'The form could not be parsed: it is truncated, or not multipart/form-data.');
const idle = (): HttpError => new HttpError(400, 'The upload was idle for a minute. Send the file again.');

/** Closes the connection of a request that was answered before its body was complete, after a short delay. */
export const closeEarlyAnswered: RequestHandler = (request, response, next) => {
  response.once('finish', () => {
    if (request.complete) return;
    setTimeout(() => {
      // A complete request is finished, and its connection may serve others already.
      if (!request.complete) request.socket.destroy();
    }, LINGER_MS).unref();
  });
  next();
};

/**
 * Reads a form with one file and streams the file to `receive`, so that only a part of it is in memory.
 * @param noteUnused receives the other fields, which have no effect (options are query parameters); [] if none
 * @throws HttpError 413 above maxBytes, 415 for a content-encoding, 422 without a file or with too many other fields,
 * 400 for an unreadable or idle form; StoreFailure if the file cannot be stored
 */
export async function receiveFile(
  request: IncomingMessage,
  maxBytes: number,
  receive: ReceiveContent,
  noteUnused: (fields: readonly UnknownField[]) => void = () => undefined,
): Promise<ReceivedFile> {
  const { 'content-type': type = '', 'content-length': length, 'content-encoding': coding } = request.headers;
  if (!/^multipart\/form-data\s*;/i.test(type)) throw missing();
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Send the form without a content-encoding.');
  if (Number(length ?? 0) > maxBytes + OVERHEAD_BYTES) throw tooLarge();
  const form = openForm(request, type, maxBytes);
  const unused = new Set<string>();
  const recordField = (field: string): void => {
    if (field !== FIELD && unused.size < MAX_UNKNOWN) unused.add(field);
  };
  form.on('field', recordField).on('file', recordField);
  const file = await readForm(request, form, receive);
  inspectText({ [FIELD]: file.name }, 'body');
  noteUnused([...unused].map((field) => ({ path: ['body', field], knownNames: [FIELD] })));
  return file;
}

/** Splits the input, so that parsing stops soon after a limit is exceeded. */
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
  const upload: { stream: BusboyFileStream | null; file: Promise<ReceivedFile> | null } = { stream: null, file: null };
  let failure: unknown = null;
  const slices = inSlices();
  const ended = new Promise<void>((resolve) => {
    const fail = (reason: unknown): void => {
      failure ??= reason;
      slices.unpipe(form);
      request.unpipe(slices);
      // Discard the remaining body, so that the sender reads the response.
      request.resume();
      upload.stream?.destroy(failure instanceof Error ? failure : broken());
      resolve();
    };
    form.on('file', (field, stream, name: string | undefined, _encoding, contentType) => {
      stream.on('error', () => fail(broken()));
      if (field !== FIELD || upload.stream !== null) {
        stream.resume();
        return;
      }
      upload.stream = stream;
      stream.once('limit', () => fail(tooLarge()));
      upload.file = receive(stream).then((draft) => ({
        name: (name ?? '').slice(0, MAX_NAME),
        contentType: contentType === ANY_TYPE ? null : contentType,
        draft,
      }));
      upload.file.catch(fail);
    });
    form.on('partsLimit', () => fail(tooMany(`${LIMITS.parts} parts`)));
    form.on('fieldsLimit', () => fail(tooMany(`${LIMITS.fields} fields`)));
    form.on('error', () => fail(broken()));
    form.on('finish', resolve);
    request.on('error', () => fail(broken()));
    request.on('close', () => {
      if (!request.complete) fail(broken());
    });
    request.setTimeout(IDLE_MS, () => fail(idle()));
    request.pipe(slices).pipe(form);
  });
  await ended;
  request.setTimeout(0);
  // Awaited after a failure too: content can only be deleted once it is completely received.
  let storeFailure: StoreFailure | null = null;
  const file = await upload.file?.catch((error: unknown) => {
    storeFailure = storeFailureOf(error);
    return null;
  });
  // A store failure ends the stream of the file. The form reports this before the store's own error arrives.
  if (storeFailure !== null) throw storeFailure as StoreFailure;
  if (failure !== null) {
    // Rethrown unchanged: a StoreFailure must keep its type.
    // oxlint-disable-next-line typescript/only-throw-error
    throw failure;
  }
  if (!file) throw missing();
  return file;
}
