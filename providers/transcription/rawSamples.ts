import type { Recording } from './types.js';

/** Samples without a header have no format information: assume the usual format of telephony and speech tools. */
const SAMPLE_RATE = 16_000;
const CHANNELS = 1;
const BITS_PER_SAMPLE = 16;
const HEADER_BYTES = 44;

/** Returns the header of a WAVE file for this many bytes of samples. */
function waveHeader(size: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const block = (CHANNELS * BITS_PER_SAMPLE) / 8;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(size + HEADER_BYTES - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(CHANNELS, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * block, 28);
  header.writeUInt16LE(block, 32);
  header.writeUInt16LE(BITS_PER_SAMPLE, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(size, 40);
  return header;
}

/** Converts raw samples to a WAVE file, which every service reads; returns other recordings unchanged. */
export function withHeader(recording: Recording): Recording {
  if (recording.mimeType !== 'audio/l16') return recording;
  return {
    size: recording.size + HEADER_BYTES,
    mimeType: 'audio/wav',
    open: async () => {
      const samples = await recording.open();
      return (async function* wave() {
        yield waveHeader(recording.size);
        yield* samples;
      })();
    },
  };
}
