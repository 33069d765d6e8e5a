import { rmSync } from 'node:fs';
import path from 'node:path';
import { answerTask, type PoolAnswer, type PoolTask } from './answerTask.js';
import type { ProgramReport } from './ocr/engines/runProgram.js';
import { isLong, type TextFile, writeText } from './longText.js';
import type { ProcessedDocument } from './types.js';

export interface ProcessTask extends PoolTask {
  /** Path prefix of the files for long texts. */
  readonly textFiles: string;
}

/** The reply as sent between processes; a long text is passed in a file. */
export type ProcessAnswer =
  | PoolAnswer
  | { readonly document: Omit<ProcessedDocument, 'text'>; readonly text: TextFile };

/** A message of a pool process: it has begun to work, its replies, or the program that it runs. */
export type ProcessMessage = { readonly begun: true } | { readonly answers: readonly ProcessAnswer[] } | ProgramReport;

const sendMessage = (message: ProcessMessage): void => void process.send?.(message);

function packAnswer(answer: PoolAnswer, file: string): ProcessAnswer {
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
    message: `The text was read, but the service could not write it to its disk (folder ${folder}, see TMPDIR). Free some space there. The service retries the file for a limited time; after that, resync it.`,
    cause: error instanceof Error ? error.message : null,
  },
});

// The parent process has ended, so the reply has no receiver.
process.on('disconnect', () => process.exit(0));
process.on('message', (task: ProcessTask) => {
  sendMessage({ begun: true });
  // answerTask returns a Fault for any error of a reader; any other error ends the process, which the parent detects.
  void answerTask(task).then((answers) =>
    sendMessage({ answers: answers.map((answer, nth) => packAnswer(answer, `${task.textFiles}-${nth}`)) }),
  );
});
