import { splitText } from './chunking/splitText.ts';
const w =
  process.argv[2] === 'h' ? '# a\n'.repeat(60000) : process.argv[2] === '1' ? '1'.repeat(300000) : 'a'.repeat(1e6);
const cs = Number(process.argv[3]);
let s = performance.now();
const r = splitText(w, { chunkSize: cs, chunkOverlap: cs >> 1, prefix: null });
console.log(r.chunks.length, performance.now() - s);
