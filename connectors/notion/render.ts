import type { Block } from './blocks.js';
import { type Form, richText } from './richText.js';
import { asList, asObject, asText, type Json } from '../json.js';

export interface Rendered {
  readonly text: string;
  /** Number of blocks without text whose type is unknown or not supported by the API. */
  readonly unread: number;
}

const indented = (text: string, prefix: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : `${prefix}${line}`))
    .join('\n');
const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');

/**
 * Returns code in a fence that is longer than any row of backticks in it:
 * https://spec.commonmark.org/0.31.2/#fenced-code-blocks
 */
function fenced(language: string, code: string): string {
  let length = 3;
  for (const [row] of code.matchAll(/`{3,}/g)) length = Math.max(length, row.length + 1);
  const fence = '`'.repeat(length);
  return `${fence}${language}\n${code}\n${fence}`;
}

const LIST_BLOCKS: ReadonlySet<string> = new Set(['bulleted_list_item', 'numbered_list_item', 'to_do']);
/** Blocks that show external content by its URL. */
const LINK_BLOCKS: ReadonlySet<string> = new Set(['bookmark', 'embed', 'link_preview']);
const FILE_BLOCKS: ReadonlySet<string> = new Set(['image', 'video', 'file', 'pdf', 'audio']);
/** Blocks that contain other blocks. Some have a title or text of their own. */
const CONTAINER_BLOCKS: ReadonlySet<string> = new Set([
  'column_list',
  'column',
  'synced_block',
  'template',
  'tab',
  'meeting_notes',
  'transcription',
]);
/** Navigation blocks, which are omitted. */
const NAVIGATION_BLOCKS: ReadonlySet<string> = new Set(['breadcrumb', 'table_of_contents', 'link_to_page']);

/** Returns the caption or name of a file. URLs at Notion expire within an hour, so only external URLs are kept. */
function fileText(body: Json, form: Form): string {
  const caption = richText(body['caption'], form).trim();
  const url = asText(asObject(body['external'])['url']);
  const label = caption || (asText(body['name']) ?? '');
  if (url === null) return label;
  return form === 'markdown' ? `[${label || url}](${url})` : [label, url].filter(Boolean).join(': ');
}

function tableText(table: Block, form: Form): string {
  const rows = table.children.map(({ body }) =>
    asList(body['cells']).map((cell) => richText(cell, form).replaceAll('\n', ' ').trim()),
  );
  if (form === 'plain') return rows.map((cells) => cells.join(' | ')).join('\n');
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  const rule = `|${' --- |'.repeat(rows[0]?.length ?? 0)}`;
  return lines.length === 0 ? '' : [lines[0], rule, ...lines.slice(1)].join('\n');
}

/** Markdown prefixes of text blocks. */
const MARKS: Readonly<Record<string, string>> = {
  heading_1: '# ',
  heading_2: '## ',
  heading_3: '### ',
  heading_4: '#### ',
  bulleted_list_item: '- ',
};

/** Renders blocks as Markdown or plain text, and counts those without text whose type is unknown or not supported. */
export function renderBlocks(blocks: readonly Block[], form: Form): Rendered {
  let unread = 0;
  const isMarkdown = form === 'markdown';

  /** Renders a block without its children. */
  const ownText = ({ type, body, ...block }: Block, number: number): string => {
    const text = richText(body['rich_text'], form);
    if (type === 'numbered_list_item') return `${number}. ${text}`;
    if (type === 'to_do') return `${isMarkdown ? '- ' : ''}[${body['checked'] === true ? 'x' : ' '}] ${text}`;
    if (type === 'code')
      return isMarkdown ? fenced(asText(body['language']) ?? '', richText(body['rich_text'], 'plain')) : text;
    if (type === 'equation')
      return isMarkdown ? `$$${asText(body['expression']) ?? ''}$$` : (asText(body['expression']) ?? '');
    if (type === 'divider') return isMarkdown ? '---' : '';
    if (type === 'table') return tableText({ type, body, ...block }, form);
    if (type === 'child_page' || type === 'child_database') return asText(body['title']) ?? '';
    if (LINK_BLOCKS.has(type)) return fileText({ caption: body['caption'], external: { url: body['url'] } }, form);
    if (FILE_BLOCKS.has(type)) return fileText(body, form);
    if (CONTAINER_BLOCKS.has(type)) return richText(body['title'], form) || text;
    if (NAVIGATION_BLOCKS.has(type)) return '';
    if (body['rich_text'] === undefined) unread += 1;
    return isMarkdown || type === 'bulleted_list_item' ? `${MARKS[type] ?? ''}${text}` : text;
  };

  const render = (siblings: readonly Block[]): string => {
    const parts: string[] = [];
    let number = 0;
    let before: string | null = null;
    for (const block of siblings) {
      number = block.type === 'numbered_list_item' ? number + 1 : 0;
      const inner = block.type === 'table' ? '' : render(block.children);
      const isList = LIST_BLOCKS.has(block.type);
      const shown = [ownText(block, number), isList ? indented(inner, '    ') : inner].filter(
        (text) => text.trim() !== '',
      );
      const joined = shown.join(isList ? '\n' : '\n\n');
      const text = isMarkdown && (block.type === 'quote' || block.type === 'callout') ? quoted(joined) : joined;
      if (text === '') continue;
      // Items of one list are not separated by an empty line.
      if (before !== null) parts.push(isList && before === block.type ? '\n' : '\n\n');
      parts.push(text);
      before = block.type;
    }
    return parts.join('');
  };
  const text = render(blocks);
  return { text, unread };
}
