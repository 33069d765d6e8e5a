/**
 * Prints the vectors of the texts on its command line. Runs as a child process because ONNX Runtime does not run inside
 * Jest.
 */
import { readFileSync } from 'node:fs';

import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const [modelPath = '', tokenizerPath = '', ...texts] = process.argv.slice(2);
const tokenizer = new Tokenizer(JSON.parse(readFileSync(tokenizerPath, 'utf8')), {});
const session = await InferenceSession.create(modelPath);
const vectors: number[][] = [];
for (const text of texts) {
  const { ids, attention_mask: mask } = tokenizer.encode(text);
  const tensor = (values: number[]) => new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const output = await session.run({ input_ids: tensor(ids), attention_mask: tensor(mask) });
  vectors.push([...((output['sentence_embedding']?.data ?? []) as Float32Array)]);
}
process.stdout.write(JSON.stringify(vectors));
