/**
 * Converts Confluence's storage format to HTML. It is XHTML with custom elements for macros, links, images and tasks.
 * https://confluence.atlassian.com/doc/confluence-storage-format-790796544.html
 */
import { Parser } from 'htmlparser2';

import { Fault } from '../../contract/failures.js';
import { escapeHtml } from '../html.js';

/** HTML elements that are copied to the output, with only their link targets and cell spans as attributes. */
const KEPT_ELEMENTS: ReadonlySet<string> = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'div'],
  ...['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption', 'a', 'strong', 'b', 'em', 'i', 'u', 's', 'del'],
  ...['sub', 'sup', 'span', 'small', 'big', 'br', 'hr'],
]);
const KEPT_ATTRIBUTES: readonly string[] = ['href', 'colspan', 'rowspan'];
const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'hr']);
/** The HTML that replaces Confluence's own elements. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  'ac:layout-cell': 'div',
  'ac:task-list': 'ul',
  'ac:task': 'li',
  'ac:plain-text-body': 'pre',
  'ac:rich-text-body': 'div',
  'ac:adf-content': 'div',
};
/**
 * Elements that are skipped with their contents: ids of tasks, attributes, fallbacks for content that is read from
 * another element, and placeholder texts.
 */
const SKIPPED_ELEMENTS: ReadonlySet<string> = new Set([
  'ac:task-id',
  'ac:task-uuid',
  'ac:adf-attribute',
  'ac:adf-fallback',
  'ac:placeholder',
]);
/** Macro parameters that readers see: the text of a status, the key of a Jira issue. */
const SHOWN_PARAMETERS: Readonly<Record<string, readonly string[]>> = { status: ['title'], jira: ['key'] };
const HEADLINE = 'title';

interface Open {
  readonly tag: string;
  /** The closing tag. */
  readonly end: string;
  readonly isSilent: boolean;
  /** Number of texts written before the element. */
  readonly textsBefore: number;
  /** Text that replaces the element if it contains no text. */
  label: string;
}

/** Maximum nesting. Real pages are less deep; hostile pages may be deeper. */
const MAX_DEPTH = 2_000;

/** Returns the text for a link or image that contains none; '' for a mention of a user, which has only an id. */
const labelOf = (attributes: Readonly<Record<string, string>>): string =>
  attributes['ri:content-title'] ?? attributes['ri:filename'] ?? attributes['ri:space-key'] ?? '';

/** Converts a page to HTML. @param storage in Confluence's storage format; invalid XML is read as far as possible */
export function htmlOfStorage(storage: string): string {
  const parts: string[] = [];
  // An explicit stack, so that deep nesting cannot overflow the call stack.
  const open: Open[] = [];
  const macros: string[] = [];
  let silent = 0;
  let textCount = 0;
  const addText = (text: string): void => {
    if (silent > 0 || text === '') return;
    parts.push(text);
    if (text.trim() !== '') textCount += 1;
  };

  const openTag = (tag: string, attributes: Readonly<Record<string, string>>): Open => {
    const plain = { tag, end: '', isSilent: false, textsBefore: textCount, label: '' };
    if (KEPT_ELEMENTS.has(tag)) {
      const kept = KEPT_ATTRIBUTES.flatMap((name) =>
        attributes[name] === undefined ? [] : [` ${name}="${escapeHtml(attributes[name])}"`],
      );
      if (silent === 0) parts.push(`<${tag}${kept.join('')}>`);
      return { ...plain, end: VOID_ELEMENTS.has(tag) || silent > 0 ? '' : `</${tag}>` };
    }
    const shown = REPLACEMENTS[tag];
    if (shown !== undefined) {
      if (silent === 0) parts.push(`<${shown}>`);
      return { ...plain, end: silent > 0 ? '' : `</${shown}>` };
    }
    if (SKIPPED_ELEMENTS.has(tag)) return { ...plain, isSilent: true };
    switch (tag) {
      case 'ac:structured-macro':
      case 'ac:macro':
        macros.push(attributes['ac:name'] ?? '');
        return plain;
      case 'ac:parameter': {
        const name = attributes['ac:name'] ?? '';
        const inline = SHOWN_PARAMETERS[macros.at(-1) ?? '']?.includes(name) ?? false;
        if (!inline && name !== HEADLINE) return { ...plain, isSilent: true };
        if (silent === 0 && !inline) parts.push('<p><strong>');
        return { ...plain, end: silent > 0 || inline ? '' : '</strong></p>' };
      }
      case 'ac:link':
      case 'ac:image':
        return { ...plain, label: attributes['ac:alt'] ?? '' };
      case 'ac:emoticon':
        addText(escapeHtml(attributes['ac:emoji-fallback'] ?? ''));
        return plain;
      case 'time':
        addText(escapeHtml(attributes['datetime'] ?? ''));
        return plain;
      default: {
        const parent = open.at(-1);
        const label = labelOf(attributes);
        if (tag.startsWith('ri:') && parent && parent.label === '' && label !== '') parent.label = label;
        return plain;
      }
    }
  };

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (open.length >= MAX_DEPTH)
          throw new Fault(
            'too_large',
            `A Confluence page with elements nested more than ${MAX_DEPTH} deep is not read. Simplify the page.`,
          );
        const opened = openTag(tag, attributes);
        if (opened.isSilent) silent += 1;
        open.push(opened);
      },
      ontext(text) {
        const isStatus = open.at(-1)?.tag === 'ac:task-status';
        addText(isStatus ? (text.trim() === 'complete' ? '[x] ' : '[ ] ') : escapeHtml(text));
      },
      onclosetag() {
        const closed = open.pop();
        if (!closed) return;
        if (closed.isSilent) silent -= 1;
        if (closed.label !== '' && closed.textsBefore === textCount) addText(escapeHtml(closed.label));
        if (closed.end !== '') parts.push(closed.end);
        if (closed.tag === 'ac:structured-macro' || closed.tag === 'ac:macro') macros.pop();
      },
    },
    { recognizeCDATA: true, recognizeSelfClosing: true, decodeEntities: true },
  );
  parser.end(storage);
  return parts.join('');
}
