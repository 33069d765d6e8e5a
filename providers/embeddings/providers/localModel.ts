import { InferenceSession, Tensor } from 'onnxruntime-node';
import { loadTokenizer } from './localTokenizer.js';

/**
 * Paths of the embedded model: an ONNX encoder (input_ids, attention_mask → sentence_embedding) and its tokenizer.json.
 */
export interface LocalModelFiles {
  readonly modelPath: string;
  readonly tokenizerPath: string;
}

export interface LocalModel {
  /** Returns the ids of a text's word pieces; none for a text without words. */
  tokenize(text: string): number[];
  /** Computes the vector of one window of at most WINDOW_PIECES word pieces. */
  embedWindow(window: readonly number[]): Promise<Float32Array>;
}

/** Loads the tokenizer and the model into this thread. */
export async function loadLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): Promise<LocalModel> {
  const tokenizer = await loadTokenizer(tokenizerPath);
  // One thread per session: two wait for each other by spinning, which doubles the CPU time without more throughput.
  const session = await InferenceSession.create(modelPath, { intraOpNumThreads: 1, interOpNumThreads: 1 });

  // One window per run: int8 scales activations over the whole run, so another window would change the vector.
  const embedWindow = async (window: readonly number[]): Promise<Float32Array> => {
    const ids = tokenizer.frame(window);
    const mask = new BigInt64Array(ids.length).fill(1n);
    const shape = [1, ids.length];
    const outputs = await session.run({
      input_ids: new Tensor('int64', ids, shape),
      attention_mask: new Tensor('int64', mask, shape),
    });
    const vector = outputs['sentence_embedding']?.data;
    if (!(vector instanceof Float32Array)) throw new Error(`${modelPath} has no float output sentence_embedding`);
    return vector;
  };

  return { tokenize: tokenizer.tokenize, embedWindow };
}
