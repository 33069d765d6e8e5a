import { Document } from 'domhandler';
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { Fault } from '../../../contract/failures.js';
import type { DocumentLimits } from '../../types.js';
import { ElementStack, type OpenElement } from './elementStack.js';
import { append, isText, PageElement, PageText } from './pageElement.js';
import { withoutCdata } from './withoutCdata.js';
import { lowerName } from './lowerName.js';
import { BLOCKS, CONTROLS, DROPPED, FORMATTING, HEADINGS, VOID } from './tagSets.js';

const set = (...names: string[]): ReadonlySet<string> => new Set(names);

const CELL_EDGES = set('td', 'th', 'caption', 'table');
const TABLE = set('table');
/** Elements whose content has no character references. Other such elements (script, style) are dropped. */
const RAW_TEXT = set('xmp', 'plaintext');
const NO_BLOCKS_INSIDE = set('svg', 'math', 'select');
/** Id of the empty template that marks the place of a part that React streams later (see revealContent). */
const STREAM_PLACE = /^[BP]:[0-9a-z]+$/i;
const LIST_EDGES = set(
  'ul',
  'ol',
  'menu',
  'dir',
  'dl',
  'td',
  'th',
  'table',
  'blockquote',
  'section',
  'article',
  'main',
  'form',
  'center',
);
const TABLE_PARTS = set('caption', 'colgroup', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'table');
const ROW_PARENTS = set('table', 'tbody', 'thead', 'tfoot');

/** The elements that a start tag implicitly closes: authors, especially of old pages, omit these end tags. */
const CLOSES: ReadonlyMap<string, { readonly targets: ReadonlySet<string>; readonly edges: ReadonlySet<string> }> =
  new Map([
    ['li', { targets: set('li'), edges: LIST_EDGES }],
    ['dt', { targets: set('dt', 'dd'), edges: LIST_EDGES }],
    ['dd', { targets: set('dt', 'dd'), edges: LIST_EDGES }],
    ['tr', { targets: set('tr', 'caption', 'colgroup'), edges: TABLE }],
    ['td', { targets: set('td', 'th', 'caption', 'colgroup'), edges: TABLE }],
    ['th', { targets: set('td', 'th', 'caption', 'colgroup'), edges: TABLE }],
    ['thead', { targets: set('thead', 'tbody', 'tfoot', 'caption', 'colgroup'), edges: TABLE }],
    ['tbody', { targets: set('thead', 'tbody', 'tfoot', 'caption', 'colgroup'), edges: TABLE }],
    ['tfoot', { targets: set('thead', 'tbody', 'tfoot', 'caption', 'colgroup'), edges: TABLE }],
    ['body', { targets: set('head'), edges: set() }],
  ]);

/**
 * Parses the page into a light tree in one pass of the tokenizer. Elements deeper than the limit are flattened into the
 * deepest allowed one, and attributes beyond the limit are ignored. Uses htmlparser2's tokenizer instead of its parser,
 * whose stack is an array shifted at the front and takes minutes for 100,000 open tags.
 * @param isXhtml whether `<a/>` is an empty element, as in XHTML; in HTML it is a start tag
 * @throws Fault too_large for nesting or attributes that no author writes
 */
export function buildTree(text: string, limits: DocumentLimits, isXhtml = false): Document {
  const html = isXhtml ? text : withoutCdata(text);
  const builder = new TreeBuilder(html, limits, isXhtml);
  // Without decoding, the tokenizer skips to the end of each text and value. The builder decodes character references.
  const tokenizer = new Tokenizer({ decodeEntities: false }, builder);
  tokenizer.write(html);
  tokenizer.end();
  return builder.root;
}

class TreeBuilder implements TokenizerCallbacks {
  readonly root = new Document([]);
  readonly #html: string;
  readonly #maxDepth: number;
  readonly #limits: DocumentLimits;
  readonly #isXhtml: boolean;
  readonly #stack = new ElementStack();
  #tag = '';
  #attributes: Record<string, string> = {};
  #attributeCount = 0;
  /** Number of attributes read so far. */
  #attributesRead = 0;
  #attributeName = '';
  #valueStart = 0;
  #valueEnd = 0;

  constructor(html: string, limits: DocumentLimits, isXhtml: boolean) {
    this.#html = html;
    this.#isXhtml = isXhtml;
    // Later steps recurse over the tree: the setting must not allow a stack overflow.
    this.#maxDepth = Math.min(Math.max(limits.maxDepth, 8), 1000);
    this.#limits = limits;
  }

  onopentagname(start: number, end: number): void {
    this.#tag = lowerName(this.#html, start, end);
    this.#attributes = {};
    this.#attributeCount = 0;
    this.#attributesRead = 0;
  }

  onattribname(start: number, end: number): void {
    const { maxHtmlAttributes, maxAttributesPerElement } = this.#limits;
    this.#attributeCount += 1;
    if (this.#attributeCount > maxHtmlAttributes) throw tooManyAttributes(maxHtmlAttributes);
    const isRead = this.#attributesRead < maxAttributesPerElement;
    this.#attributeName = isRead ? lowerName(this.#html, start, end) : '';
    this.#valueStart = 0;
    this.#valueEnd = 0;
  }

  onattribdata(start: number, end: number): void {
    this.#valueStart = start;
    this.#valueEnd = end;
  }

  onattribend(): void {
    const name = this.#attributeName;
    if (name === '') return;
    const attributes = this.#attributes;
    if (attributes[name] !== undefined && Object.hasOwn(attributes, name)) return;
    const value = this.#html.slice(this.#valueStart, this.#valueEnd);
    attributes[name] = value.includes('&') ? decodeHTMLAttribute(value) : value;
    this.#attributesRead += 1;
  }

  onopentagend(): void {
    this.#open(this.#tag === 'image' ? 'img' : this.#tag, this.#attributes);
  }

  onselfclosingtag(): void {
    const isEmpty = this.#isForeign || this.#tag === 'svg' || this.#tag === 'math';
    this.onopentagend();
    if (isEmpty && this.#stack.top?.name === this.#tag) this.#stack.pop();
  }

  onclosetag(start: number, end: number): void {
    const name = lowerName(this.#html, start, end);
    this.#separate(name);
    if (name === 'br' || name === 'p') {
      // For these end tags, browsers open the element that the tag closes.
      if (name === 'br' || !this.#stack.close('p', CELL_EDGES)) this.#leaf(name, {});
    } else if (name === 'body' || name === 'html') {
      // Text after the end of the body is still shown.
    } else if (HEADINGS.has(name)) {
      this.#stack.closeAny(HEADINGS, CELL_EDGES);
    } else if (FORMATTING.has(name) || name === 'form') {
      this.#stack.remove(name, CELL_EDGES);
    } else {
      this.#stack.close(name, TABLE_PARTS.has(name) ? TABLE : CELL_EDGES);
    }
  }

  ontext(start: number, end: number): void {
    const top = this.#stack.top;
    if (top?.node === null) return;
    const data = this.#html.slice(start, end);
    const isRaw = !this.#isXhtml && top !== undefined && RAW_TEXT.has(top.name);
    this.#text(!isRaw && data.includes('&') ? decodeHTML(data) : data);
  }

  oncdata(start: number, end: number, endMark: number): void {
    this.#text(this.#html.slice(start, end - endMark));
  }

  /**
   * Whether the tokenizer reads tags inside elements such as `iframe`, whose content is text in HTML. True inside
   * noscript, where an iframe without an end tag would otherwise swallow the rest of the page. In browsers it does not
   * swallow the page: they read noscript as text while scripts are enabled.
   */
  isInForeignContext(): boolean {
    return this.#isForeign || this.#stack.has('noscript');
  }

  get #isForeign(): boolean {
    return this.#isXhtml || this.#stack.has('svg') || this.#stack.has('math');
  }

  onattribentity(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}

  #open(name: string, attributes: Record<string, string>): void {
    this.#closeImplied(name);
    if (name === 'form' && this.#stack.has('form')) return;
    if (VOID.has(name)) {
      if (!DROPPED.has(name)) this.#leaf(name, attributes);
      return;
    }
    const parentName = this.#stack.top?.name ?? '';
    if ((name === 'td' || name === 'th') && ROW_PARENTS.has(parentName)) this.#open('tr', {});
    const parent = this.#stack.top ?? { name: '', node: this.root, depth: 0 };
    // Browsers show the content of a template that is a shadow root.
    const isShadow = name === 'template' && attributes['shadowrootmode'] !== undefined;
    if (parent.node === null || (DROPPED.has(name) && !isShadow)) {
      if (parent.node !== null && name === 'template' && STREAM_PLACE.test(attributes['id'] ?? ''))
        append(parent.node, new PageElement(name, attributes, []));
      this.#push({ name, node: null, depth: parent.depth });
    } else if (parent.depth >= this.#maxDepth) {
      this.#separate(name);
      this.#push({ name, node: parent.node, depth: parent.depth });
    } else {
      const element = new PageElement(isShadow ? 'div' : name, attributes, []);
      append(parent.node, element);
      this.#push({ name, node: CONTROLS.has(name) ? null : element, depth: parent.depth + 1 });
    }
  }

  #push(element: OpenElement): void {
    const { maxHtmlDepth } = this.#limits;
    if (this.#stack.size >= maxHtmlDepth) throw tooDeep(maxHtmlDepth);
    this.#stack.push(element);
  }

  #closeImplied(name: string): void {
    const block = BLOCKS.has(name);
    // A block inside an SVG or a select shows that its end tag is missing.
    if (block && name !== 'option' && name !== 'optgroup' && !this.#stack.has('foreignobject')) {
      while (this.#stack.closeAny(NO_BLOCKS_INSIDE, TABLE));
    }
    const implied = CLOSES.get(name);
    if (implied !== undefined) this.#stack.closeAny(implied.targets, implied.edges);
    if (block && name !== 'option') this.#stack.close('p', CELL_EDGES);
    if (HEADINGS.has(name) && HEADINGS.has(this.#stack.top?.name ?? '')) this.#stack.pop();
    if (name === 'a') this.#stack.remove('a', CELL_EDGES);
  }

  #leaf(name: string, attributes: Record<string, string>): void {
    const parent = this.#stack.top?.node;
    if (parent !== null) append(parent ?? this.root, new PageElement(name, attributes, []));
  }

  #text(data: string): void {
    const top = this.#stack.top;
    const parent = top === undefined ? this.root : top.node;
    if (parent === null) return;
    const last = parent.children.at(-1);
    if (last && isText(last)) last.data += data;
    else append(parent, new PageText(data));
  }

  /** Separates the words of flattened blocks. */
  #separate(name: string): void {
    if ((this.#stack.top?.depth ?? 0) >= this.#maxDepth && BLOCKS.has(name)) this.#text('\n');
  }
}

const tooDeep = (limit: number): Fault =>
  new Fault(
    'too_large',
    `Its HTML has more than ${limit} nested open elements (setting MAX_HTML_DEPTH). Close its tags, send its text in another form, or raise the setting.`,
  );

const tooManyAttributes = (limit: number): Fault =>
  new Fault(
    'too_large',
    `Its HTML has an element with more than ${limit} attributes (setting MAX_HTML_ATTRIBUTES). Remove them, send its text in another form, or raise the setting.`,
  );
