import { oneLine } from '../../textBuilder.js';
import type { LineGroup } from './findHeadings.js';
import { type Box, type Matrix, placeBox } from './pdfjs/matrix.js';

/** The parts of PDF.js's description of an annotation that are read (Annotation in its src/core/annotation.js). */
interface Annotation {
  readonly subtype?: string;
  /** Null for a rectangle without an area. */
  readonly rect?: readonly number[] | null;
  readonly contentsObj?: { readonly str?: string };
  readonly richText?: { readonly str?: string } | null;
  readonly titleObj?: { readonly str?: string };
  readonly fieldType?: string | null;
  readonly fieldName?: string;
  readonly fieldValue?: unknown;
  readonly alternativeText?: string;
  readonly options?: ReadonlyArray<{ readonly exportValue?: unknown; readonly displayValue?: unknown }>;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly buttonValue?: unknown;
  readonly password?: boolean;
  readonly parentType?: string | null;
}

/** The form values and comments of a page, and the kinds and numbers of annotations with other content. */
export interface PageAnnotations {
  readonly groups: readonly LineGroup[];
  readonly skipped: ReadonlyMap<string, number>;
}

/**
 * Kinds of annotations without text of their own: the page shows where a link leads, and a popup repeats its comment.
 */
const WITHOUT_TEXT = new Set(['Link', 'Popup', 'PrinterMark', 'TrapNet', 'Watermark']);
/** Annotations that contain other content (ISO 32000-2, table 171), and their names in the list of unread parts. */
const OTHER_CONTENT: Readonly<Record<string, string>> = {
  FileAttachment: 'attachments',
  Sound: 'sounds',
  Movie: 'videos',
  Screen: 'videos',
  RichMedia: 'videos',
  '3D': 'three_dimensional_views',
};
const CHECKED = 'checked';
const UNCHECKED = 'not checked';

/** Returns the form values and comments of a page as lines with their boxes, fields first. */
export function readAnnotations(annotations: readonly unknown[], page: Matrix): PageAnnotations {
  const fields: PlacedText[] = [];
  const groups: LineGroup[] = [];
  const skipped = new Map<string, number>();
  const seenFields = new Set<string>();
  for (const annotation of annotations as readonly Annotation[]) {
    const { subtype = '', rect } = annotation;
    const box = placeBox(page, rect ?? []);
    const kind = OTHER_CONTENT[subtype] ?? (annotation.fieldType === 'Sig' ? 'signatures' : undefined);
    if (kind !== undefined) skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
    if (subtype === 'Widget') {
      const text = fieldText(annotation);
      // A field may be shown several times on a page. Fields of several rows have the same label, but other names.
      const field = JSON.stringify([annotation.fieldName, text]);
      if (text !== null && !seenFields.has(field)) fields.push({ text, box });
      seenFields.add(field);
    } else {
      const comment = commentText(annotation);
      if (comment !== null) groups.push({ lines: [lineOf({ text: comment, box })], keepsLines: true });
    }
  }
  if (fields.length > 0) groups.unshift({ lines: fields.map(lineOf), keepsLines: true });
  return { groups, skipped };
}

interface PlacedText {
  readonly text: string;
  readonly box: Box;
}

const lineOf = ({ text, box }: PlacedText): LineGroup['lines'][number] => ({
  ...box,
  text,
  size: box.y2 - box.y1,
  baseline: box.y2,
});

/** Returns `label: value` of a form field; null for buttons, empty fields, unchosen options and passwords. */
function fieldText(field: Annotation): string | null {
  const value = valueOf(field);
  if (value === '') return null;
  const label = oneLine(field.alternativeText ?? '') || nameOf(field.fieldName ?? '');
  return label === '' ? value : `${label.replace(/:$/, '')}: ${value}`;
}

/**
 * Returns the field's own name without the names of its groups and without indexes: `form[0].page[0].city[0]` is
 * `city`.
 */
const nameOf = (name: string): string =>
  oneLine(
    name
      .replaceAll(/\[\d+\]/g, '')
      .split('.')
      .findLast((part) => /\p{L}/u.test(part)) ?? name,
  );

function valueOf(field: Annotation): string {
  const { fieldType, fieldValue, options = [], buttonValue } = field;
  if (field.password === true || fieldType === 'Sig') return '';
  if (fieldType !== 'Btn') {
    const values = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
    return values
      .map((value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
      .filter((value) => typeof value === 'string')
      .map(oneLine)
      .filter(Boolean)
      .join(', ');
  }
  const isOn = typeof fieldValue === 'string' && fieldValue !== '' && fieldValue !== 'Off';
  if (field.checkBox === true) return isOn ? onState(fieldValue) : UNCHECKED;
  return field.radioButton === true && isOn && fieldValue === buttonValue ? oneLine(fieldValue) : '';
}

/** States of a checkbox that only mean "checked"; any other state is the value that the form sends. */
const PLAIN_STATE = /^(?:on|yes|true|checked|\d{1,2}|x|ja|oui|si)$/i;
const onState = (value: string): string => (PLAIN_STATE.test(value) ? CHECKED : `${CHECKED} (${oneLine(value)})`);

/** Returns the text of a comment with its author; null without text. */
function commentText({ subtype = '', contentsObj, richText, titleObj }: Annotation): string | null {
  const text = oneLine(contentsObj?.str ?? '') || oneLine(richText?.str ?? '');
  if (text === '' || WITHOUT_TEXT.has(subtype)) return null;
  // Text that is written on the page is treated like the page's own.
  if (subtype === 'FreeText') return text;
  const author = oneLine(titleObj?.str ?? '');
  return author === '' ? `Comment: ${text}` : `Comment by ${author}: ${text}`;
}
