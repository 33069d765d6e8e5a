import type { RichTextItemResponse } from '@notionhq/client';

import { type Answer, asAnswer, asList, asText } from '../json.js';

/** Output format: Markdown, or plain text without markup. */
export type Form = 'markdown' | 'plain';

const wrapped = (text: string, mark: string): string => {
  // Markdown emphasis must not begin or end with a space, so surrounding spaces are moved outside.
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  return inner === '' ? text : `${before}${mark}${inner}${mark}${after}`;
};
const LINK = /^(?:https?|mailto):[^\s<>()]+$/i;

function runOf(run: Answer<RichTextItemResponse>, form: Form): string {
  const text = asText(run['plain_text']) ?? '';
  if (form === 'plain') return text;
  const { bold, italic, strikethrough, code } = asAnswer<RichTextItemResponse['annotations']>(run.annotations);
  let shown = run['type'] === 'equation' ? wrapped(text, '$') : code === true ? wrapped(text, '`') : text;
  if (bold === true) shown = wrapped(shown, '**');
  if (italic === true) shown = wrapped(shown, '*');
  if (strikethrough === true) shown = wrapped(shown, '~~');
  const href = asText(run['href']);
  return href !== null && LINK.test(href) && text.trim() !== '' ? `[${shown}](${href})` : shown;
}

/** Renders a list of rich text objects. */
export const richText = (runs: unknown, form: Form): string =>
  asList(runs)
    .map((run) => runOf(asAnswer(run), form))
    .join('');
