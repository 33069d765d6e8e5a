import type { DeferredStep } from '../../../contract/orchestration.js';

/**
 * Something of a file must be made first, by a step of its own and perhaps for a long time: its batch puts it aside and
 * goes on.
 */
export class Deferred extends Error {
  readonly step: DeferredStep;
  /** For OCR: the pages that it is to read, from 1. */
  readonly pages: readonly number[] | null;

  constructor(step: DeferredStep, pages: readonly number[] | null = null) {
    super(`to be done first: ${step}`);
    this.step = step;
    this.pages = pages;
  }
}
