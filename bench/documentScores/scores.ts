import { plainText, readMarkdown } from './readMarkdown.js';
import { indelSimilarity, type TreeNode, treeSimilarity } from './treeDistance.js';

/**
 * How close a text is to its reference; 1 is equal. `recall`, `precision` and `nid` are at least 0. `teds` and `mhs`
 * can be negative, and are null if the reference has no tables or no headings.
 */
export interface Scores {
  /** Share of the reference's words that the text contains. */
  readonly recall: number;
  /** Share of the text's words that the reference contains. */
  readonly precision: number;
  /** Order of the text: similarity by insertions and deletions of characters, relative to both lengths. */
  readonly nid: number;
  /** Similarity of the rows and cells of tables, as trees. */
  readonly teds: number | null;
  /** Similarity of the headings with the text below each, as trees; heading levels do not count. */
  readonly mhs: number | null;
}

/** Scores a text in Markdown against its reference. */
export function scoreText(reference: string, found: string): Scores {
  const [wanted, ours] = [wordsOf(reference), wordsOf(found)];
  const common = commonWords(wanted, ours);
  return {
    recall: wanted.length === 0 ? 1 : common / wanted.length,
    precision: ours.length === 0 ? 0 : common / ours.length,
    nid: indelSimilarity(normalized(plainText(reference)), normalized(plainText(found))),
    teds: scoreTables(reference, found),
    mhs: scoreHeadings(reference, found),
  };
}

/** Counts the words of a reference, those of a text, and those in both. */
export function countWords(reference: string, found: string): { wanted: number; ours: number; common: number } {
  const [wanted, ours] = [wordsOf(reference), wordsOf(found)];
  return { wanted: wanted.length, ours: ours.length, common: commonWords(wanted, ours) };
}

const normalized = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u00ad]/g, '')
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Returns the words of a text. Numbers have no separators of thousands and no trailing zeros: 1,250.50 is 1250.5. */
export function wordsOf(markdown: string): string[] {
  const text = normalized(plainText(markdown)).toLowerCase();
  const words = text.match(/\p{N}[\p{N}.,]*|[\p{L}\p{M}]+/gu) ?? [];
  return words.map((word) => (/^\p{N}/u.test(word) ? plainNumber(word) : word));
}

function plainNumber(word: string): string {
  const value = word.replace(/[.,]+$/, '').replaceAll(/,(?=\d{3}(?!\d))/g, '');
  return /^\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '') : value;
}

function commonWords(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of b) {
    const count = counts.get(word) ?? 0;
    if (count === 0) continue;
    counts.set(word, count - 1);
    common += 1;
  }
  return common;
}

const leaf = (kind: string, text: string): TreeNode => ({ kind, text, children: [] });

/** Pairs each table with the most similar free one, best pairs first. Tables without a partner count as 0. */
function scoreTables(reference: string, found: string): number | null {
  const [wanted, ours] = [tablesOf(reference), tablesOf(found)];
  if (wanted.length === 0) return null;
  const pairs = wanted
    .flatMap((a, i) => ours.map((b, j) => ({ i, j, score: treeSimilarity(a, b) })))
    .toSorted((a, b) => b.score - a.score);
  const used = new Set<string>();
  let sum = 0;
  for (const { i, j, score } of pairs) {
    if (used.has(`a${i}`) || used.has(`b${j}`)) continue;
    used.add(`a${i}`).add(`b${j}`);
    sum += score;
  }
  return sum / Math.max(wanted.length, ours.length);
}

const tablesOf = (markdown: string): TreeNode[] =>
  readMarkdown(markdown)
    .filter((block) => block.kind === 'table')
    .map(({ rows }) => ({
      kind: 'table',
      text: '',
      children: rows.map((cells) => ({
        kind: 'row',
        text: '',
        children: cells.map((cell) => leaf('cell', normalized(cell))),
      })),
    }));

function scoreHeadings(reference: string, found: string): number | null {
  const [wanted, ours] = [outlineOf(reference), outlineOf(found)];
  if (!hasHeadings(wanted)) return null;
  return hasHeadings(ours) ? treeSimilarity(wanted, ours) : 0;
}

const hasHeadings = ({ children }: TreeNode): boolean => children.some(({ kind }) => kind === 'heading');

/** Returns a tree of the headings, with the text below each as its child. */
function outlineOf(markdown: string): TreeNode {
  const parts: { heading: string | null; texts: string[] }[] = [{ heading: null, texts: [] }];
  for (const block of readMarkdown(markdown)) {
    if (block.kind === 'heading') parts.push({ heading: normalized(block.text), texts: [] });
    else parts.at(-1)?.texts.push(block.kind === 'table' ? block.rows.flat().join(' ') : block.text);
  }
  return {
    kind: 'document',
    text: '',
    children: parts.flatMap(({ heading, texts }): TreeNode[] => {
      const content = texts.length > 0 ? [leaf('text', normalized(texts.join(' ')))] : [];
      return heading === null ? content : [{ kind: 'heading', text: heading, children: content }];
    }),
  };
}
