import type { FileFormat } from '../../contract/files/fileFormats.js';

/** Detects MPEG audio: its only signature is eleven set bits, and the layer distinguishes the three formats. */
export function mpegAudio(bytes: Buffer): FileFormat | null {
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || second === 0xff || second === 0xfe) return null;
  const layers: readonly (FileFormat | null)[] = ['AAC', 'MP3', 'MP2', null];
  return layers[(second >> 1) & 3] ?? null;
}

/** Whether a second frame of the same format follows the first: raw samples may look like one frame. */
export function hasTwoFrames(bytes: Buffer): boolean {
  const format = mpegAudio(bytes);
  const length = format === 'AAC' ? adtsLength(bytes) : mpegLength(bytes);
  return format !== null && length > 0 && mpegAudio(bytes.subarray(length)) === format;
}

/** Returns the length of an AAC frame, which its header states. */
const adtsLength = (bytes: Buffer): number => (bytes.length < 6 ? 0 : (bytes.readUIntBE(3, 3) & 0x3_ff_e0) >> 5);

/** Bit rates in kilobits per second, by their four-bit code; layer and version choose the row. */
const BITRATES = {
  MP2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  MP3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  low: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** Returns the length of an MP2 or MP3 frame, which has a fixed number of samples; 0 if the header is invalid. */
function mpegLength(bytes: Buffer): number {
  const [, second = 0, third = 0] = bytes;
  const version = (second >> 3) & 3;
  const isLayer3 = ((second >> 1) & 3) === 1;
  const isFull = version === 3;
  const bitrate = BITRATES[isFull ? (isLayer3 ? 'MP3' : 'MP2') : 'low'][third >> 4] ?? 0;
  const rate = (SAMPLE_RATES[(third >> 2) & 3] ?? 0) / (isFull ? 1 : version === 2 ? 2 : 4);
  if (bitrate === 0 || rate === 0 || version === 1) return 0;
  const samples = isLayer3 && !isFull ? 576 : 1152;
  return Math.floor(((samples / 8) * bitrate * 1000) / rate) + ((third >> 1) & 1);
}
