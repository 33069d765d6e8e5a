/** Our chunker in `bench:documents`. */
import { splitText } from '../documents/chunking/splitText.js';
import { splitRounds } from './splitRounds.js';

await splitRounds((text, { chunkSize, chunkOverlap }) =>
  splitText(text, { chunkSize, chunkOverlap, prefix: null }).chunks.map((chunk) => chunk.text),
);
