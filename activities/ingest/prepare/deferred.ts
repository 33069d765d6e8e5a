import type { DeferredStep } from '../../../contract/orchestration.js';

/**
 * The file needs a result of another, possibly long, step first: its batch defers it and
 * continues.
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
