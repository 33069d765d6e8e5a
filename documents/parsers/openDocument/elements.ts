/** Elements of OpenDocument by their local names. */

/** Matches elements whose text is not text of the document: deleted text, templates of indexes, forms, scripts. */
export const SKIPPED =
  /^(?:tracked-changes|[a-z-]+-source|forms|scripts|event-listeners|content-validations|dde-links|scenario|page-thumbnail)$/;

/** Elements of drawings that contain their own text. */
export const SHAPES: ReadonlySet<string> = new Set([
  'frame',
  'custom-shape',
  'rect',
  'ellipse',
  'circle',
  'line',
  'path',
  'polygon',
  'polyline',
  'regular-polygon',
  'connector',
  'caption',
  'measure',
]);

/** Elements inside a paragraph that are not part of its text. All other elements, such as fields, are. */
const NOT_INLINE: ReadonlySet<string> = new Set([
  ...SHAPES,
  'note',
  'note-citation',
  'note-body',
  'annotation',
  'annotation-end',
  'object',
  'g',
  'control',
  'image',
  'text-box',
  'scene',
]);

/** Whether the text of an element inside a paragraph belongs to the paragraph. */
export const isInline = (name: string): boolean => !NOT_INLINE.has(name);

/** Maximum number of spaces that one element represents. */
const MAX_SPACES = 100;

/** Returns the text that an element in a paragraph represents. */
export function inlineText(name: string, { c }: Readonly<Record<string, string>>): string {
  if (name === 's') return ' '.repeat(Math.min(MAX_SPACES, Math.max(0, Number(c ?? 1) || 1)));
  if (name === 'tab') return '\t';
  if (name === 'line-break') return '\n';
  return name === 'ruby-text' ? '(' : '';
}
