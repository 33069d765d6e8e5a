/**
 * Child process of `bench:embedding` that uses ONNX Runtime only, without code of the service: embeds windows of prepared
 * token ids, one window per call.
 */
import { readFile } from 'node:fs/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';

export interface BareOptions {
  readonly modelPath: string;
  readonly threads: number;
  /** JSON file of windows: lists of token ids, with the start and end tokens. */
  readonly file: string;
}

const { modelPath, threads, file } = JSON.parse(process.argv[2] ?? '') as BareOptions;
const windows = JSON.parse(await readFile(file, 'utf8')) as readonly (readonly number[])[];
const session = await InferenceSession.create(modelPath, { intraOpNumThreads: threads, interOpNumThreads: 1 });

async function iteration(): Promise<number> {
  const startedAt = performance.now();
  for (const ids of windows) {
    const shape = [1, ids.length];
    await session.run({
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    });
  }
  return performance.now() - startedAt;
}

process.on('message', () => void iteration().then((ms) => process.send?.(ms)));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
