/** Our chunker in `bench:documents`. */
import { splitText } from '../documents/chunking/splitText.js';
import { splitIterations } from './splitIterations.js';

await splitIterations((text, { chunkSize, chunkOverlap }) =>
  splitText(text, { chunkSize, chunkOverlap, prefix: null }).chunks.map((chunk) => chunk.text),
);
