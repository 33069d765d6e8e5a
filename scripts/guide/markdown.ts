/** Extends markdown-it for the guide: links, pictures, tabs of code, notes and wide tables. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Markdown, State, Token } from '@11ty/eleventy';
import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';

import { slugOf } from '../markdown.js';
import { addressOf, linkBetween } from './contents.js';

type TokenClass = State['Token'];

export interface PageEnv {
  /** Path of the page below docs/. */
  readonly page: string;
}

export interface MarkdownOptions {
  /** Absolute path of docs/. */
  readonly docs: string;
  /** Titles of all pages, by their paths below docs/. */
  readonly titles: ReadonlyMap<string, string>;
}

loadLanguages(['bash', 'json', 'typescript', 'python', 'yaml', 'jsx', 'nginx']);
Prism.languages['sh'] = Prism.languages['bash'] ?? {};

const EXTERNAL = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;
const LABEL = /\[([^\]]+)\]/;
const FILE_NAME = /^[\w./-]+\.md$/;
const NOTE = /^\[!(NOTE|TIP|WARNING)\]\s*/;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns a code block as HTML, with syntax highlighting by class names. */
function codeBlock(info: string, code: string): string {
  const [language = ''] = info.split(/\s+/, 1);
  const grammar = Prism.languages[language];
  const html = grammar ? Prism.highlight(code, grammar, language) : escapeHtml(code);
  const label = LABEL.exec(info)?.[1];
  return `<div class="code"${label ? ` data-label="${escapeHtml(label)}"` : ''}><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}

/**
 * Returns a drawing as part of the page. Its own styles, which are for viewers that show the file alone, are removed:
 * the guide defines the same classes for both themes.
 */
function renderDrawing(file: string, alt: string): string {
  const svg = readFileSync(file, 'utf8')
    .replace(/^<\?xml[^>]*>\s*/, '')
    .replace(/<style>[\s\S]*?<\/style>\s*/, '');
  return `<span class="drawing">${svg.replace('<svg', `<svg role="img" aria-label="${escapeHtml(alt)}"`).trim()}</span>`;
}

/** Groups successive blocks of code that have a label (```` ```ts [TypeScript] ````) as tabs. */
function groupTabs(tokens: readonly Token[], New: TokenClass): Token[] {
  const isLabelled = (token: Token | undefined): boolean => token?.type === 'fence' && LABEL.test(token.info);
  const html = (content: string): Token => Object.assign(new New('html_block', '', 0), { content });
  return tokens.flatMap((token, index) => {
    if (!isLabelled(token)) return [token];
    const begins = !isLabelled(tokens[index - 1]);
    const ends = !isLabelled(tokens[index + 1]);
    return [...(begins ? [html('<div class="tabs">\n')] : []), token, ...(ends ? [html('</div>\n')] : [])];
  });
}

/** Turns quotes that begin with [!NOTE], [!TIP] or [!WARNING] into notes, as GitHub shows them. */
function markNotes(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 2];
    const kind = token.type === 'blockquote_open' ? NOTE.exec(inline?.content ?? '')?.[1] : undefined;
    const [first, second] = inline?.children ?? [];
    if (kind === undefined || !inline?.children || !first) continue;
    token.attrJoin('class', `note ${kind.toLowerCase()}`);
    first.content = first.content.replace(NOTE, '');
    if (first.content === '' && second?.type === 'softbreak') inline.children.splice(0, 2);
  }
}

/** Extends a markdown-it instance. @throws Error while rendering, for a drawing (.svg) that does not exist */
export function extendMarkdown(markdown: Markdown, { docs, titles }: MarkdownOptions): void {
  const targetOf = ({ page }: PageEnv, link: string): { file: string; anchor: string } => {
    const [target = '', anchor] = link.split('#', 2);
    const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target);
    return { file, anchor: anchor === undefined ? '' : `#${anchor}` };
  };

  /**
   * Links to pages become relative addresses. Links to other files of the repository become plain text with its path.
   */
  const resolveLinks = (children: Token[], env: PageEnv): void => {
    const open: Token[] = [];
    for (const [index, token] of children.entries()) {
      if (token.type === 'link_close') token.tag = open.pop()?.tag ?? 'a';
      if (token.type !== 'link_open') continue;
      open.push(token);
      const href = String(token.attrGet('href') ?? '');
      if (EXTERNAL.test(href)) {
        token.attrSet('rel', 'noreferrer');
        continue;
      }
      const { file, anchor } = targetOf(env, decodeURI(href));
      const title = titles.get(file);
      if (title !== undefined) {
        const text = children[index + 1];
        // On GitHub a page has the name of its file; readers of the guide only know its title.
        if (text?.type === 'text' && FILE_NAME.test(text.content)) text.content = title;
        const link = file === env.page ? '' : linkBetween(addressOf(env.page), addressOf(file));
        token.attrSet('href', link + anchor || '#');
        continue;
      }
      token.tag = 'span';
      token.attrs = [
        ['class', 'repository'],
        ['title', `In the repository: ${path.posix.join('docs', file)}`],
      ];
    }
  };

  markdown.core.ruler.push('guide', (state) => {
    const { inputPath } = state.env['page'] as { inputPath: string };
    const pageEnv: PageEnv = { page: path.relative(docs, path.resolve(inputPath)).split(path.sep).join('/') };
    state.env['guide'] = pageEnv;
    const slugs = new Map<string, number>();
    for (const [index, token] of state.tokens.entries()) {
      if (token.type === 'inline') resolveLinks(token.children ?? [], pageEnv);
      // The pages' Content-Security-Policy forbids inline styles.
      if (token.attrGet('style') === 'text-align:right') token.attrs = [['class', 'number']];
      if (token.type !== 'heading_open') continue;
      const slug = slugOf(state.tokens[index + 1]?.content ?? '');
      const seen = slugs.get(slug) ?? 0;
      slugs.set(slug, seen + 1);
      token.attrSet('id', seen === 0 ? slug : `${slug}-${seen}`);
    }
    markNotes(state.tokens);
    state.tokens = groupTabs(state.tokens, state.Token);
  });

  const { rules } = markdown.renderer;
  rules.fence = (tokens, index) => codeBlock(tokens[index]?.info ?? '', tokens[index]?.content ?? '');
  rules.code_block = (tokens, index) => codeBlock('', tokens[index]?.content ?? '');
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.image = (tokens, index, _options, env) => {
    const pageEnv = env['guide'] as PageEnv;
    const token = tokens[index];
    const { file } = targetOf(pageEnv, String(token?.attrGet('src') ?? ''));
    const alt = token?.content ?? '';
    if (file.endsWith('.svg')) return renderDrawing(path.join(docs, file), alt);
    const link = linkBetween(addressOf(pageEnv.page), file);
    return `<img src="${escapeHtml(link)}" alt="${escapeHtml(alt)}" loading="lazy">`;
  };
}
