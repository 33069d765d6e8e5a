import type { Readable } from 'node:stream';

import { Fault } from '../contract/failures.js';
import { codingsOf, decode } from './decode.js';
import type { EgressResponse } from './types.js';

/** Maximum bytes of an unwanted body that are read to keep the connection, and the time limit in milliseconds. */
const DISCARD_BYTES = 64 * 1024;
const DISCARD_MS = 1000;

export interface BodyOptions {
  readonly source: Readable;
  readonly headers: Readonly<Record<string, string>>;
  readonly host: string;
  readonly maxBytes: number;
  /** Converts a stream error into the error for the caller. */
  readonly explain: (error: unknown) => unknown;
  /** Called once when the body was read, discarded or has failed. */
  readonly onEnd: () => void;
}

/**
 * Returns the decoded body of a response. Bytes are counted after decoding, so that a small compressed body cannot grow
 * without limit.
 */
export function responseBody(options: BodyOptions): Pick<EgressResponse, 'body' | 'bytes' | 'discard'> {
  const { source, headers, host, maxBytes, onEnd } = options;
  const tooLarge = () =>
    new Fault(
      'too_large',
      `The answer of ${host} is larger than the ${maxBytes.toLocaleString('en')} bytes that are allowed. Split the content, or raise the limit in the service's settings.`,
    );

  // The exchange may end (timeout, abort) before the body is read; an unhandled 'error' would end the process.
  source.on('error', () => undefined);

  async function* read(): AsyncGenerator<Uint8Array, void> {
    let total = 0;
    try {
      const codings = codingsOf(headers['content-encoding']);
      if (codings === null) {
        throw new Fault(
          'broken_content',
          `${host} responded in an encoding that was not requested (${headers['content-encoding'] ?? ''}). Its operator must send gzip, deflate, br or none.`,
        );
      }
      if (codings.length === 0 && Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
      const decoded = codings.reduce<AsyncIterable<Uint8Array>>(decode, source);
      for await (const piece of decoded) {
        total += piece.length;
        if (total > maxBytes) throw tooLarge();
        yield piece;
      }
    } catch (error) {
      throw options.explain(error);
    } finally {
      source.destroy();
      onEnd();
    }
  }

  const body = read();
  return {
    body,
    async bytes() {
      const pieces: Uint8Array[] = [];
      let length = 0;
      for await (const piece of body) {
        pieces.push(piece);
        length += piece.length;
      }
      // Allocate separate memory, which can be transferred without a copy: Buffer.concat may use a shared pool.
      const bytes = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces) {
        bytes.set(piece, at);
        at += piece.length;
      }
      return bytes;
    },
    async discard() {
      await drain(source, headers['content-length']);
      onEnd();
    },
  };
}

/**
 * Reads a short remaining body, so that the connection can be reused. Closes the connection if the body is long or
 * slow.
 */
export async function drain(source: Readable, contentLength: string | undefined): Promise<void> {
  if (source.destroyed || source.readableEnded) return;
  // The body is discarded, so its errors are irrelevant.
  source.on('error', () => undefined);
  if (Number(contentLength ?? 0) > DISCARD_BYTES) {
    source.destroy();
    return;
  }
  await new Promise<void>((resolve) => {
    let read = 0;
    const timer = setTimeout(() => source.destroy(), DISCARD_MS);
    source
      .on('data', (piece: Uint8Array) => {
        read += piece.length;
        if (read > DISCARD_BYTES) source.destroy();
      })
      .once('close', () => {
        clearTimeout(timer);
        resolve();
      })
      .resume();
  });
}
