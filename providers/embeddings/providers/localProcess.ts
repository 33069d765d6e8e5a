import { loadLocalModel } from './localModel.js';
import type { EmbeddedPart } from './windowedText.js';
import { fillWindow, type TextPart } from './localWindows.js';

/**
 * Kinds of work with independent queues: short queries, long queries and documents. Short queries and documents run in
 * parallel in one process, because a short query would otherwise wait some tens of milliseconds for a window of a
 * document. Long queries are embedded in a separate process (localPool.ts).
 */
export type Workload = 'query' | 'long query' | 'document';

/** The next window of a text. Each workload has at most one active request, so the workload identifies the reply. */
export interface LocalRequest extends TextPart {
  readonly workload: Workload;
}

export type LocalReply =
  | ({ readonly kind: 'window'; readonly workload: Workload } & EmbeddedPart)
  | { readonly kind: 'failed'; readonly workload: Workload; readonly reason: string }
  /** The last message of a process that could not load the model. */
  | { readonly kind: 'unloadable'; readonly reason: string };

// The callback ignores the error of a reply to a parent that has ended; without it, the error would be uncaught.
const reply = (message: LocalReply, sent: () => void = () => {}): void => {
  process.send?.(message, undefined, undefined, sent);
};

// Exit with the parent, however it ended.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches the whole process group: the parent finishes its work first, then ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [modelPath = '', tokenizerPath = ''] = process.argv.slice(2);
loadLocalModel({ modelPath, tokenizerPath }).then(
  (model) => {
    const embedNext = async ({ workload, ...part }: LocalRequest): Promise<LocalReply> => {
      const { window, carry } = fillWindow(part, model.tokenize);
      const vector = window && (await model.embedWindow(window));
      return { kind: 'window', workload, vector, tokens: window?.length ?? 0, carry };
    };
    // Requests are not awaited one after the other, because workloads do not wait for each other.
    process.on('message', (request: LocalRequest) => {
      embedNext(request).then(reply, (error: unknown) =>
        reply({ kind: 'failed', workload: request.workload, reason: String(error) }),
      );
    });
  },
  (error: unknown) => reply({ kind: 'unloadable', reason: String(error) }, () => process.exit(1)),
);
