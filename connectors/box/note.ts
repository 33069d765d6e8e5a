/** Box Notes, a JSON format. Since 2022 a note is a tree of blocks; older notes are one text. */
import { asList, asObject, asText, type Json } from '../json.js';

/** Maximum nesting of blocks. A block at this level contains the text of all deeper ones, without their formatting. */
const MAX_LEVELS = 100;

type Inline = (text: string, attributes: Json) => string;
const wrapIn =
  (mark: string): Inline =>
  (text) => {
    const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
    return inner === '' ? text : `${before}${mark}${inner}${mark}${after}`;
  };
const MARKS: Readonly<Record<string, Inline>> = {
  strong: wrapIn('**'),
  em: wrapIn('*'),
  strikethrough: wrapIn('~~'),
  code: wrapIn('`'),
  link: (text, { href }) => (asText(href) === null ? text : `[${text}](${asText(href)})`),
};

function inlineOf(node: Json, level: number): string {
  if (node['type'] === 'hard_break') return '\n';
  const text = asText(node['text']);
  if (text === null)
    return level > MAX_LEVELS
      ? plainTextOf(node)
      : partsOf(node)
          .map((part) => inlineOf(part, level + 1))
          .join('');
  let written = text;
  for (const given of asList(node['marks'])) {
    const { type, attrs } = asObject(given);
    const mark = typeof type === 'string' && Object.hasOwn(MARKS, type) ? MARKS[type] : undefined;
    if (mark) written = mark(written, asObject(attrs));
  }
  return written;
}

/** Returns the text in a node without its formatting, each block on a line. Not recursive: it accepts any nesting. */
function plainTextOf(node: Json): string {
  let text = '';
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    const { type } = next;
    const beginsLine = type === 'hard_break' || (typeof type === 'string' && Object.hasOwn(BLOCKS, type));
    if (beginsLine && text !== '' && !text.endsWith('\n')) text += '\n';
    text += asText(next['text']) ?? '';
    for (const part of partsOf(next).toReversed()) open.push(part);
  }
  return text;
}

const partsOf = (node: Json): readonly Json[] => asList(node['content']).map(asObject);
const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

function cellsOf(row: Json, level: number): string {
  const cells = partsOf(row).map((cell) =>
    blocksOf(cell, level + 1)
      .replaceAll(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|'),
  );
  return `| ${cells.join(' | ')} |`;
}
function tableOf(node: Json, level: number): string {
  const [first, ...rest] = partsOf(node).map((row) => cellsOf(row, level));
  const columns = partsOf(partsOf(node)[0] ?? {}).length;
  return first === undefined ? '' : [first, `|${' --- |'.repeat(columns)}`, ...rest].join('\n');
}

const listOf = (node: Json, level: number, bullet: (item: Json, index: number) => string): string =>
  partsOf(node)
    .map((item, index) => {
      const mark = bullet(item, index);
      return `${mark} ${indented(blocksOf(item, level + 1), ' '.repeat(mark.length + 1))}`;
    })
    .join('\n');

type Block = (node: Json, level: number) => string;
const BLOCKS: Readonly<Record<string, Block>> = {
  heading: (node, level) => {
    const depth = Number(asObject(node['attrs'])['level']);
    return `${'#'.repeat(Number.isInteger(depth) ? Math.min(6, Math.max(1, depth)) : 1)} ${inlineOf(node, level)}`;
  },
  paragraph: inlineOf,
  bullet_list: (node, level) => listOf(node, level, () => '-'),
  ordered_list: (node, level) => listOf(node, level, (_item, index) => `${index + 1}.`),
  check_list: (node, level) =>
    listOf(node, level, (item) => `- [${asObject(item['attrs'])['checked'] === true ? 'x' : ' '}]`),
  blockquote: (node, level) => quoted(blocksOf(node, level + 1)),
  call_out_box: (node, level) => quoted(blocksOf(node, level + 1)),
  code_block: (node, level) => `\`\`\`\n${inlineOf(node, level)}\n\`\`\``,
  horizontal_rule: () => '---',
  table: tableOf,
};

function blockOf(node: Json, level: number): string {
  const { type } = node;
  const block = typeof type === 'string' && Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  if (block && level <= MAX_LEVELS) return block(node, level);
  // An unknown type is replaced by its contents.
  return asText(node['text']) === null && level <= MAX_LEVELS ? blocksOf(node, level + 1) : inlineOf(node, level);
}
const blocksOf = (node: Json, level: number): string =>
  partsOf(node)
    .map((part) => blockOf(part, level))
    .filter((text) => text.trim() !== '')
    .join(node['type'] === 'list_item' || node['type'] === 'check_list_item' ? '\n' : '\n\n');

/** Converts a note to Markdown; null if it is not a note. */
export function noteText(bytes: Uint8Array): string | null {
  let note: Json;
  try {
    note = asObject(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return null;
  }
  const { doc, atext } = note;
  if (doc !== undefined) return blocksOf(asObject(doc), 0);
  const text = asObject(atext)['text'];
  // In older notes a list item begins with an asterisk.
  return typeof text === 'string' ? text.replaceAll(/^\*(?=\S)/gm, '- ') : null;
}
