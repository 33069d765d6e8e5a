/** A block of a Markdown text. */
export type MarkdownBlock =
  | { readonly kind: 'heading' | 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] };

const RULE_ROW = /^\|?[\s:|-]+\|?$/;

/** Splits a Markdown text into headings, tables and other text, all without Markdown syntax. */
export function readMarkdown(markdown: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let text: string[] = [];
  let rows: string[][] = [];
  const flush = (): void => {
    if (rows.length > 0) blocks.push({ kind: 'table', rows });
    if (text.length > 0) blocks.push({ kind: 'text', text: text.join(' ') });
    [text, rows] = [[], []];
  };
  for (const line of htmlTables(markdown).split('\n')) {
    const heading = /^#{1,6}\s+(.*)$/.exec(line.trim());
    if (heading !== null) {
      flush();
      blocks.push({ kind: 'heading', text: plain(heading[1] ?? '') });
    } else if (line.trim().startsWith('|')) {
      if (text.length > 0) flush();
      if (!RULE_ROW.test(line.trim())) rows.push(cellsOf(line.trim()));
    } else {
      if (rows.length > 0) flush();
      const shown = plain(line);
      if (shown !== '') text.push(shown);
    }
  }
  flush();
  return blocks;
}

/** Returns the text without Markdown syntax. White space is reduced to one space. */
export const plainText = (markdown: string): string =>
  readMarkdown(markdown)
    .map((block) => (block.kind === 'table' ? block.rows.flat().filter(Boolean).join(' ') : block.text))
    .join(' ');

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.replaceAll('\\|', '|')));

function plain(line: string): string {
  return line
    .replaceAll(/<!--.*?-->/g, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[-*+•]\s+|```\w*\s*$|>\s)/, '')
    .replaceAll(/(\*{1,3}|~~)(\S(?:.*?\S)?)\1/g, '$2')
    .replaceAll(/\\([\\`*_{}[\]()#+.!|~-])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Converts tables in HTML, which some programs write, to rows of Markdown. */
const htmlTables = (markdown: string): string =>
  markdown.replaceAll(/<table[\s\S]*?<\/table>/gi, (table) => {
    const rows = [...table.matchAll(/<tr[\s\S]*?<\/tr>/gi)].map(([row]) =>
      [...row.matchAll(/<t[hd]([^>]*)>([\s\S]*?)<\/t[hd]>/gi)].map(([, , cell = '']) =>
        cell
          .replaceAll(/<[^>]+>/g, ' ')
          .replaceAll('|', '\\|')
          .replaceAll(/\s+/g, ' '),
      ),
    );
    return `\n\n${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n`;
  });
