import { rmSync } from 'node:fs';
import path from 'node:path';
import { answerTask, type PoolAnswer, type PoolTask } from './answerTask.js';
import { isLong, type TextFile, writeText } from './longText.js';
import type { ProcessedDocument } from './types.js';

export interface ProcessTask extends PoolTask {
  /** What the names of files begin with that long texts are written to. */
  readonly textFiles: string;
}

/** The answer as it goes between processes; a long text lies in a file meanwhile. */
export type ProcessAnswer =
  | PoolAnswer
  | { readonly document: Omit<ProcessedDocument, 'text'>; readonly text: TextFile };

/** What a process of the pool tells: that it began, and what came of it. */
export type ProcessMessage = { readonly begun: true } | { readonly answers: readonly ProcessAnswer[] };

const tell = (message: ProcessMessage): void => void process.send?.(message);

function packed(answer: PoolAnswer, file: string): ProcessAnswer {
  if (!('document' in answer) || !('cuts' in answer.document)) return answer;
  const { text, ...document } = answer.document;
  if (typeof text !== 'string' || !isLong(text)) return answer;
  try {
    return { document, text: writeText(text, file) };
  } catch (error) {
    rmSync(file, { force: true });
    return diskFault(error, path.dirname(file));
  }
}

const diskFault = (error: unknown, folder: string): PoolAnswer => ({
  fault: {
    kind: 'disk_failed',
    message: `The text was read, but the service could not write it to its disk (folder ${folder}, see TMPDIR). Make room there; it is tried again for a while, and with the next sync.`,
    cause: error instanceof Error ? error.message : null,
  },
});

// Whoever started this is gone: nobody waits for an answer.
process.on('disconnect', () => process.exit(0));
process.on('message', (task: ProcessTask) => {
  tell({ begun: true });
  // answerTask answers a Fault for whatever a reader throws; anything else ends the process, which is told as that.
  void answerTask(task).then((answers) =>
    tell({ answers: answers.map((answer, nth) => packed(answer, `${task.textFiles}-${nth}`)) }),
  );
});
