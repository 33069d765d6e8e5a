import { InferenceSession, Tensor } from 'onnxruntime-node';
import { loadTokenizer } from './localTokenizer.js';

/** Where the embedded model lies: an ONNX encoder (input_ids, attention_mask → sentence_embedding) and its tokenizer.json. */
export interface LocalModelFiles {
  readonly modelPath: string;
  readonly tokenizerPath: string;
}

export interface LocalModel {
  /** The ids of a text's word pieces; none for a text without words. */
  pieces(text: string): number[];
  /** The vector of one window of at most WINDOW_PIECES word pieces. */
  embedWindow(window: readonly number[]): Promise<Float32Array>;
}

/** Loads tokenizer and model into this thread. */
export async function loadLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): Promise<LocalModel> {
  const tokenizer = await loadTokenizer(tokenizerPath);
  // One thread a session: two wait for each other by spinning and cost twice the CPU for no more texts a second.
  const session = await InferenceSession.create(modelPath, { intraOpNumThreads: 1, interOpNumThreads: 1 });

  // Always one window a run: int8 scales activations over the whole run, so a neighbour would change the vector.
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

  return { pieces: tokenizer.pieces, embedWindow };
}
