import { isElement, isText, type PageElement, type PageText } from '../tree/pageElement.js';

/** The place where an element states a date, and the form of the date. */
export interface DateMark {
  /** The element, or the one around the text. */
  readonly element: PageElement;
  /** The text node with the date; null if the whole element is the date. */
  readonly node: PageText | null;
  readonly text: string;
  /** Rank of the evidence; 0 is the best. */
  readonly rank: 0 | 1 | 2;
}

/** Maximum number of characters of a text that is only a date. */
const MAX_DATE_LENGTH = 45;

/** Attributes with a machine-readable date. Browsers show `title` when the pointer is on the element. */
const ATTRIBUTES = ['datetime', 'title', 'ts', 'created', 'data-datetime', 'content'] as const;
const MACHINE_DATE = /^\s*((?:19|20)\d\d-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/;
const PUBLISHED = /^(?:date(?:Published|Created|Posted)|uploadDate)$/i;

/** A year; 25xx is a year of the Buddhist calendar. */
const YEAR = /(?<!\d)(?:19|20|25)\d\d(?!\d)/;
/** A date in digits only. */
const DIGITS_DATE = /(?<!\d)\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?!\d)/;

/** Returns the date that an element states in its attributes or text nodes of its own; null if it states none. */
export function readDate(element: PageElement): DateMark | null {
  return dateOfAttributes(element) ?? dateOfText(element);
}

function dateOfAttributes(element: PageElement): DateMark | null {
  const { attribs, name, textLength } = element;
  const property = attribs['itemprop'] ?? '';
  const isDate = name === 'time' || PUBLISHED.test(property);
  if (textLength > MAX_DATE_LENGTH) return null;
  for (const attribute of ATTRIBUTES) {
    const value = attribs[attribute];
    if (value === undefined) continue;
    const stated = machineDate(attribute, value);
    if (stated === null) continue;
    const shown = shownDate(element);
    // Users search for the displayed form of a date, unless it is relative.
    const isShown = !MACHINE_DATE.test(shown) && (YEAR.test(shown) || DIGITS_DATE.test(shown));
    const text = isShown ? trimmed(shown) : stated;
    return { element, node: null, text, rank: PUBLISHED.test(property) ? 0 : 1 };
  }
  if (!isDate || textLength === 0) return null;
  return { element, node: null, text: trimmed(shortText(element)), rank: 1 };
}

/** Returns the date in a machine-readable value, as day and time; null if it is not a date. */
function machineDate(attribute: string, value: string): string | null {
  const [whole, day = '', time] = MACHINE_DATE.exec(value) ?? [];
  if (whole !== undefined) return time === undefined ? day : `${day} ${time}`;
  return attribute === 'title' && value.length <= MAX_DATE_LENGTH && isDateText(value) ? trimmed(value) : null;
}

function dateOfText(element: PageElement): DateMark | null {
  if (element.name === 'dd' || element.proseLength > 0) return null;
  let before: PageElement | PageText | null = null;
  for (const child of element.children) {
    if (isElement(child)) {
      if (child.textLength > 0) before = child;
    } else if (isText(child) && child.visibleLength > 0) {
      const mayDate = child.digits > 2 && child.visibleLength <= MAX_DATE_LENGTH && isDateText(child.data);
      if (mayDate && !isLabel(before)) return { element, node: child, text: trimmed(child.data), rank: 2 };
      before = child;
    }
  }
  return null;
}

/** Whether the text before a date is a label: "Joined: 2 May 2013" is about the author. */
function isLabel(node: PageElement | PageText | null): boolean {
  if (node === null) return false;
  if (isText(node)) return ENDS_WITH_COLON.test(node.data.trimEnd());
  return node.textLength < MAX_DATE_LENGTH && ENDS_WITH_COLON.test(shortText(node).trimEnd());
}

const ENDS_WITH_COLON = /[:：]$/;

/** Whether a short text contains little more than a date with a day. */
export function isDateText(text: string): boolean {
  if (LABEL_BEFORE_DATE.test(text)) return false;
  if (DIGITS_DATE.test(text)) return true;
  if (!YEAR.test(text)) return false;
  const withoutTime = text.replace(YEAR, ' ').replaceAll(/\d{1,2}:\d\d(?::\d\d)?/g, ' ');
  return DAY.test(withoutTime) && (withoutTime.match(/\p{L}+/gu) ?? []).length <= MAX_OTHER_WORDS;
}

/** A day of the month, alone or with an ordinal ending. */
const DAY = /(?<![\d/])(?:0?[1-9]|[12]\d|3[01])(?!\d)/;
/** Maximum number of words next to the date: "on Friday January 12" has three, and with a verb and "at" five. */
const MAX_OTHER_WORDS = 6;

/** A word and a colon before the date, in the same text. */
const LABEL_BEFORE_DATE = /^[^\d]*\p{L}\s*[:：]\s/u;

/** Removes the separators around a date. */
function trimmed(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N})]+$/gu, '');
}

/** Returns the shown date of an element that may have a longer and a shorter form. */
function shownDate(element: PageElement): string {
  const parts = element.children.filter((child) => isElement(child) && child.textLength > 0) as PageElement[];
  const whole = shortText(element);
  if (parts.length < 2) return whole;
  return parts.map(shortText).find((part) => isDateText(part)) ?? whole;
}

/** Returns the text of a short element. */
export function shortText(element: PageElement): string {
  let text = '';
  for (const child of element.children) {
    if (isText(child)) text += child.data;
    else if (isElement(child)) text += ` ${shortText(child)} `;
    if (text.length > MAX_TEXT_LENGTH) break;
  }
  return text.replace(/\s+/g, ' ').trim();
}

const MAX_TEXT_LENGTH = 400;
