import type { EmbeddingPurpose } from '../types.js';
import { loadLocalModel } from './localModel.js';

/** One text to embed. At most one of each purpose is under way, so the purpose is also the name of the answer. */
export interface LocalRequest {
  readonly purpose: EmbeddingPurpose;
  readonly text: string;
}

export type LocalReply =
  | { readonly kind: 'vector'; readonly purpose: EmbeddingPurpose; readonly vector: Float32Array }
  | { readonly kind: 'failed'; readonly purpose: EmbeddingPurpose; readonly reason: string }
  /** The last words of a process that could not load the model. */
  | { readonly kind: 'unloadable'; readonly reason: string };

// With a callback, an answer to a parent that is gone is dropped; without, it would be an uncaught error.
const reply = (message: LocalReply, sent: () => void = () => {}): void => {
  process.send?.(message, undefined, undefined, sent);
};

// Without its parent it has no work, however the parent ended.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches the whole group: the parent finishes its work first, then ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [modelPath = '', tokenizerPath = ''] = process.argv.slice(2);
loadLocalModel({ modelPath, tokenizerPath }).then(
  (model) => {
    // Not awaited one after the other: each window of a long document lets a waiting query in before the next.
    process.on('message', ({ purpose, text }: LocalRequest) => {
      model.embed(text).then(
        (vector) => reply({ kind: 'vector', purpose, vector }),
        (error: unknown) => reply({ kind: 'failed', purpose, reason: String(error) }),
      );
    });
  },
  (error: unknown) => reply({ kind: 'unloadable', reason: String(error) }, () => process.exit(1)),
);
