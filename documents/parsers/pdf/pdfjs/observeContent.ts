import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { RuleFinder } from './findRules.js';
import type { Box, Matrix } from './matrix.js';

/** Data that PDF.js reads in the content of a page, but does not return with its text. */
export interface PageContent {
  /** Names of the fonts, by PDF.js's identifiers for them. */
  readonly fonts: Readonly<Record<string, string>>;
  /** Horizontal and vertical lines, in the page's user space. */
  readonly rules: readonly Box[];
}

/** A part of a page's text, as PDF.js streams it. The last part also has the content. */
export type TextPart = Pick<Awaited<ReturnType<Pdfjs.PDFPageProxy['getTextContent']>>, 'items'> & {
  readonly content?: PageContent;
};

/** A graphics state of PDF.js. PDF.js copies it when the content saves the state; a copy keeps the observer. */
interface State {
  readonly ctm: Matrix;
  readonly loadedName: string | null;
  readonly font: { readonly name?: unknown } | null;
  observer?: Observer;
}

interface StateManager {
  readonly state: State;
}

/** A request for the text of a page, or of a form on it. */
interface Request {
  /** Only set for forms. */
  readonly stateManager?: StateManager | null;
  readonly sink?: { enqueue(part: object, length: number): void } | null;
}

/** The classes of PDF.js that read the content of pages, with the members that are used here. */
export interface ContentReaders {
  readonly PartialEvaluator: { readonly prototype: { getTextContent(request: Request): Promise<void> } };
  readonly EvaluatorPreprocessor: {
    readonly prototype: {
      readonly stateManager: StateManager;
      preprocessCommand(operator: number, args: readonly unknown[] | null): void;
    };
  };
  readonly StateManager: new (state: State) => StateManager;
  readonly TextState: new () => State;
}

/** Collects the fonts and rules of a page. */
class Observer {
  readonly fonts: Record<string, string> = {};
  readonly rules: RuleFinder;
  #font: string | null = null;

  constructor(OPS: typeof Pdfjs.OPS) {
    this.rules = new RuleFinder(OPS);
  }

  observe(operator: number, args: readonly unknown[] | null, { ctm, loadedName, font }: State): void {
    if (loadedName !== null && loadedName !== this.#font) {
      this.#font = loadedName;
      if (typeof font?.name === 'string') this.fonts[loadedName] = font.name;
    }
    this.rules.apply(operator, args, ctm);
  }
}

/** Makes PDF.js add the fonts and rules of each page to the stream of its text. Called once. */
export function observeContent(readers: ContentReaders, OPS: typeof Pdfjs.OPS): void {
  const { PartialEvaluator, EvaluatorPreprocessor, StateManager, TextState } = readers;
  const { preprocessCommand } = EvaluatorPreprocessor.prototype;
  EvaluatorPreprocessor.prototype.preprocessCommand = function (operator, args) {
    const { state } = this.stateManager;
    state.observer?.observe(operator, args, state);
    preprocessCommand.call(this, operator, args);
  };
  const { getTextContent } = PartialEvaluator.prototype;
  PartialEvaluator.prototype.getTextContent = async function (request) {
    const outer = request.stateManager?.state.observer;
    if (outer !== undefined) {
      const before = outer.rules.count;
      await getTextContent.call(this, request);
      // PDF.js does not read a form again if the sink received nothing from it the first time. The empty part makes
      // PDF.js read a form with rules each time that the page draws it.
      if (outer.rules.count > before) request.sink?.enqueue({ items: [], styles: {} }, 0);
      return;
    }
    const state = new TextState();
    const observer = new Observer(OPS);
    state.observer = observer;
    await getTextContent.call(this, { ...request, stateManager: new StateManager(state) });
    const content: PageContent = { fonts: observer.fonts, rules: observer.rules.found };
    request.sink?.enqueue({ items: [], styles: {}, content }, 0);
  };
}
