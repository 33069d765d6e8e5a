/** One thread of the bare runtime: word pieces that were made before, a window a run, and nothing else. For `bench:embedding`. */
import { readFile } from 'node:fs/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';

export interface BareOrders {
  readonly modelPath: string;
  readonly threads: number;
  /** Windows as JSON: lists of the numbers of their word pieces, first and last sign included. */
  readonly file: string;
}

const { modelPath, threads, file } = JSON.parse(process.argv[2] ?? '') as BareOrders;
const windows = JSON.parse(await readFile(file, 'utf8')) as readonly (readonly number[])[];
const session = await InferenceSession.create(modelPath, { intraOpNumThreads: threads, interOpNumThreads: 1 });

async function round(): Promise<number> {
  const begun = performance.now();
  for (const ids of windows) {
    const shape = [1, ids.length];
    await session.run({
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    });
  }
  return performance.now() - begun;
}

process.on('message', () => void round().then((ms) => process.send?.(ms)));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
