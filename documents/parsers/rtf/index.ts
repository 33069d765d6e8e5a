import { Readable } from 'node:stream';
import { Tokenize } from 'rtf-stream-parser';
import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { TextBuilder } from '../../textBuilder.js';
import type { Parser } from '../../types.js';
import { RtfReader, type RtfToken } from './readRtf.js';

/** Parses paragraphs, headings, lists and tables of an RTF document; ignores pictures and embedded objects. */
export const rtfParser: Parser = {
  async parse({ bytes }, limits) {
    const writer = new TextBuilder(limits.maxTextCharacters);
    const reader = new RtfReader(writer, limits.maxDepth);
    const tokens: AsyncIterable<RtfToken> = Readable.from(slices(bytes)).compose(new Tokenize());
    try {
      for await (const token of tokens) reader.take(token);
    } catch (cause) {
      if (cause instanceof Fault) throw cause;
      throw new Fault(
        'broken_content',
        "The file is broken: it can't be read as RTF. Open it in its program, save it again and send that.",
        { cause },
      );
    }
    reader.finish();
    const text = writer.toString();
    if (text === '') throw new Fault('no_text', 'There is no text in the document: it is empty, or has pictures only.');
    return {
      text,
      format: 'RTF',
      mimeType: mimeTypeOf('RTF'),
      metadata: { ...reader.metadata, ...(reader.created === null ? {} : { created: reader.created }) },
      ...(reader.created === null ? {} : { sourceCreatedAt: reader.created }),
      ...(Object.keys(reader.unread).length > 0 ? { notRead: reader.unread } : {}),
    };
  },
};

const SLICE_BYTES = 64 * 1024;

function* slices(bytes: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES)
    yield Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(SLICE_BYTES, bytes.length - at));
}
