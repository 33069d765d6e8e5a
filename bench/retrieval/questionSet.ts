import { type Documentation, readPages } from './documentation.js';
import { sectionsOf } from './sections.js';

/** A section as it is ingested: without its heading. */
export interface Passage {
  readonly id: number;
  readonly page: string;
  readonly text: string;
}

export interface Question {
  /** The heading of a section, as it is written. */
  readonly text: string;
  /** The section's id. */
  readonly answer: number;
}

export interface QuestionSet {
  readonly name: string;
  /** The package of Debian. */
  readonly debian: string;
  readonly version: string;
  readonly passages: readonly Passage[];
  readonly questions: readonly Question[];
}

/** Shorter ones say too little to be found or told apart. */
const MIN_CHARACTERS = 200;
/** Longer ones are whole pages of lists without a heading: a hundredth of the sections, and a third of all text. */
const MAX_CHARACTERS = 12_000;
const MIN_WORDS = 3;
const WORD = /\p{L}{2,}/gu;

const normalised = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * All sections of a documentation, and of those with a heading that asks for something a question: three words or more that
 * stand above no other section ("Introduction", "See also" and the like are short, or stand above many).
 * @param step of so many pages one is taken
 */
export async function questionSet(documentation: Documentation, step: number): Promise<QuestionSet> {
  const { version, pages } = await readPages(documentation);
  const sections = pages
    .filter((_page, index) => index % step === 0)
    .flatMap(({ name, html }) => sectionsOf(html, documentation.shape).map((section) => ({ ...section, page: name })));
  const above = new Map<string, number>();
  for (const { heading } of sections) above.set(normalised(heading), (above.get(normalised(heading)) ?? 0) + 1);
  const texts = new Map<string, number>();
  for (const { text } of sections) texts.set(text, (texts.get(text) ?? 0) + 1);
  // A text that occurs twice has two right answers.
  const kept = sections.filter(
    ({ text }) => text.length >= MIN_CHARACTERS && text.length <= MAX_CHARACTERS && texts.get(text) === 1,
  );
  const passages = kept.map(({ page, text }, id) => ({ id, page, text }));
  const questions = kept.flatMap(({ heading }, answer) => {
    const asks = (heading.match(WORD) ?? []).length >= MIN_WORDS && above.get(normalised(heading)) === 1;
    return asks ? [{ text: heading, answer }] : [];
  });
  return { name: documentation.name, debian: documentation.debian, version, passages, questions };
}
