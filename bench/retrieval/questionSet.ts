import { type Documentation, readPages } from './documentation.js';
import { sectionsOf } from './sections.js';

/** A section without its heading, as it is ingested. */
export interface Passage {
  readonly id: number;
  readonly page: string;
  readonly text: string;
}

export interface Question {
  /** Heading of a section. */
  readonly text: string;
  /** Id of the section. */
  readonly answer: number;
}

export interface QuestionSet {
  readonly name: string;
  /** Name of the Debian package. */
  readonly debian: string;
  readonly version: string;
  readonly passages: readonly Passage[];
  readonly questions: readonly Question[];
}

/** Shorter sections have too little text to be found or distinguished. */
const MIN_CHARACTERS = 200;
/** Longer sections are whole pages of lists without a heading: 1 % of the sections, and a third of all text. */
const MAX_CHARACTERS = 12_000;
const MIN_WORDS = 3;
const WORD = /\p{L}{2,}/gu;

const normalised = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/**
 * Returns the sections of a documentation with MIN_CHARACTERS to MAX_CHARACTERS characters whose text is unique, and a
 * question for each of them with a heading of three words or more that no other section has. Headings such as
 * "Introduction" and "See also" are too short or too frequent.
 * @param step every `step`-th page is read
 */
export async function questionSet(documentation: Documentation, step: number): Promise<QuestionSet> {
  const { version, pages } = await readPages(documentation);
  const sections = pages
    .filter((_page, index) => index % step === 0)
    .flatMap(({ name, html }) => sectionsOf(html, documentation.shape).map((section) => ({ ...section, page: name })));
  const uses = new Map<string, number>();
  for (const { heading } of sections) uses.set(normalised(heading), (uses.get(normalised(heading)) ?? 0) + 1);
  const texts = new Map<string, number>();
  for (const { text } of sections) texts.set(text, (texts.get(text) ?? 0) + 1);
  // A text that occurs twice would have two right answers.
  const distinctSections = sections.filter(
    ({ text }) => text.length >= MIN_CHARACTERS && text.length <= MAX_CHARACTERS && texts.get(text) === 1,
  );
  const passages = distinctSections.map(({ page, text }, id) => ({ id, page, text }));
  const questions = distinctSections.flatMap(({ heading }, answer) => {
    const isQuestion = (heading.match(WORD) ?? []).length >= MIN_WORDS && uses.get(normalised(heading)) === 1;
    return isQuestion ? [{ text: heading, answer }] : [];
  });
  return { name: documentation.name, debian: documentation.debian, version, passages, questions };
}
