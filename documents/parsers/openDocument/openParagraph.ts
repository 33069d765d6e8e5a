import { inlineText } from './elements.js';

/** A paragraph whose end tag was not read yet. */
export interface OpenParagraph {
  text: string;
  readonly heading: number | null;
  /** An open link: the start of its text, and its address. */
  link: { readonly from: number; readonly url: string } | null;
}

/** Begins an element inside a paragraph: a link, or one that represents characters. */
export function openInline(paragraph: OpenParagraph, name: string, attributes: Readonly<Record<string, string>>): void {
  const { href } = attributes;
  if (name === 'a' && href !== undefined && /^(?:https?|mailto):/i.test(href))
    paragraph.link = { from: paragraph.text.length, url: href };
  paragraph.text += inlineText(name, attributes);
}

/** Ends an element inside a paragraph. A link becomes Markdown. */
export function closeInline(paragraph: OpenParagraph, name: string): void {
  if (name === 'ruby-text') paragraph.text += ')';
  if (name !== 'a' || !paragraph.link) return;
  const { from, url } = paragraph.link;
  const label = paragraph.text.slice(from);
  // An address that is its own label is written once.
  if (label.trim() !== '' && label !== url) paragraph.text = `${paragraph.text.slice(0, from)}[${label}](${url})`;
  paragraph.link = null;
}
