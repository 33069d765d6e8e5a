import type { DeferredStep } from '../../../contract/runs/orchestration.js';

/** Thrown when a file first needs the result of another, possibly long, step. The batch then defers the file. */
export class Deferred extends Error {
  readonly step: DeferredStep;
  /** For OCR: the pages to read, from 1. */
  readonly pages: readonly number[] | null;

  constructor(step: DeferredStep, pages: readonly number[] | null = null) {
    super(`another step must be completed first: ${step}`);
    this.step = step;
    this.pages = pages;
  }
}
