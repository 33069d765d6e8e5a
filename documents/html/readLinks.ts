import { decodeHTMLAttribute } from 'entities/decode';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

import { normaliseUrl } from '../../contract/urls.js';
import type { LinkOptions } from '../types.js';
import { BLOCKS } from './tree/tagSets.js';
import { withoutCdata } from './tree/withoutCdata.js';

/** Maximum length of an address in characters: longer ones come from scripts and crawler traps, not from authors. */
const MAX_ADDRESS = 2000;
/** Maximum length of an address before its character references are decoded. */
const MAX_ENCODED = 16 * MAX_ADDRESS;
/** Number of links that are examined for each link that may be returned. */
const EXAMINED_PER_LINK = 20;
/** The elements with links, and the attribute that contains the address. */
const TARGETS: ReadonlyMap<string, string> = new Map([
  ['a', 'href'],
  ['area', 'href'],
  ['frame', 'src'],
]);
/** Elements whose attributes are read. */
const READ_TAGS: ReadonlySet<string> = new Set([...TARGETS.keys(), 'base', 'meta']);

/** Elements whose content follows the rules of XML. */
const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math']);

/**
 * Extensions of files that are not pages: a crawl must not spend its page limit on them. The list omits .js, because
 * the names of some pages end with it.
 */
const NO_PAGE =
  /\.(?:7z|aac|apk|atom|avi|avif|bmp|bz2|csv|deb|dmg|docx?|eot|epub|exe|flac|gif|gz|ico|ics|jar|jpe?g|m4[av]|mkv|mov|mp[234]|mpe?g|msi|ods|odt|og[agv]|opus|otf|pdf|png|pptx?|psd|rar|rpm|rss|rtf|svg|tar|tgz|tiff?|ttf|wav|webm|webp|wmv|woff2?|xlsx?|xml|xz|zip|zst)$/i;

/**
 * Returns the addresses that an HTML page links to, normalised, without duplicates, in document order. Takes linear
 * time in the length of the page. Scripts, styles and comments are not searched for links; templates are.
 * @param baseUrl base of relative links, unless the page names one itself
 */
export function readLinks(text: string, baseUrl: string, { max, follow }: LinkOptions): string[] {
  const html = withoutCdata(text);
  const reader = new LinkReader(html, max * EXAMINED_PER_LINK);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(html);
  tokenizer.end();
  if (follow !== null && reader.closed) return [];
  const base = reader.base === '' ? baseUrl : (normaliseUrl(reader.base, baseUrl) ?? baseUrl);
  const hosts = follow === null ? null : new Set(follow.hosts);
  const urls = new Set<string>();
  for (const [address, nofollow] of reader.addresses) {
    if (urls.size >= max) break;
    if (nofollow && hosts !== null) continue;
    const url = normaliseUrl(address, base);
    if (url === null || url.length > MAX_ADDRESS) continue;
    if (hosts !== null && !isPageOf(hosts, url)) continue;
    urls.add(url);
  }
  return [...urls];
}

function isPageOf(hosts: ReadonlySet<string>, url: string): boolean {
  const { host, pathname } = new URL(url);
  return hosts.has(host) && !NO_PAGE.test(pathname);
}

/**
 * Whether the rules of a page for robots forbid to follow its links. The first word after a colon is the value of
 * another rule, such as max-image-preview:none.
 */
function closesPage(rules: string): boolean {
  return rules.split(/[,;]/).some((rule) =>
    rule.split(':').some((part, at) => {
      const words = part.trim().toLowerCase().split(/\s+/);
      return words.slice(at === 0 ? 0 : 1).some((word) => word === 'nofollow' || word === 'none');
    }),
  );
}

class LinkReader implements TokenizerCallbacks {
  /**
   * Addresses of the links, with decoded character references, not resolved against the base. The value is true if
   * every link to the address is marked nofollow.
   */
  readonly addresses = new Map<string, boolean>();
  base = '';
  /** Whether crawlers must not follow any link of the page. */
  closed = false;
  readonly #html: string;
  readonly #max: number;
  #tag = '';
  #name = '';
  #value = '';
  #isRead = false;
  /** Number of open drawings and formulas. */
  #foreign = 0;
  #attributes = new Map<string, string>();

  constructor(html: string, max: number) {
    this.#html = html;
    this.#max = max;
  }

  onopentagname(start: number, end: number): void {
    // Longer names are neither in READ_TAGS nor in FOREIGN.
    this.#tag = end - start > 5 ? '' : this.#html.slice(start, end).toLowerCase();
    this.#isRead = READ_TAGS.has(this.#tag);
    if (FOREIGN.has(this.#tag)) this.#foreign += 1;
    // A block shows that the end tag of a drawing is missing.
    else if (this.#foreign > 0 && BLOCKS.has(this.#tag)) this.#foreign = 0;
    if (this.#attributes.size > 0) this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    const isNeeded = this.#isRead && this.#attributes.size < 20 && end - start <= 10;
    this.#name = isNeeded ? this.#html.slice(start, end).toLowerCase() : '';
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    // Read one character past the limit, to detect that it was exceeded.
    if (this.#name !== '') this.#value = this.#html.slice(start, Math.min(end, start + MAX_ENCODED + 1));
  }

  onattribend(): void {
    if (this.#name === '' || this.#attributes.has(this.#name)) return;
    const value = this.#value;
    const isDecoded = value.includes('&') && value.length <= MAX_ENCODED;
    this.#attributes.set(this.#name, isDecoded ? decodeHTMLAttribute(value) : value);
  }

  onopentagend(): void {
    const attribute = (name: string): string => this.#attributes.get(name) ?? '';
    if (this.#tag === 'base') this.base ||= attribute('href');
    else if (this.#tag === 'meta' && attribute('name').toLowerCase() === 'robots')
      this.closed ||= closesPage(attribute('content'));
    const address = attribute(TARGETS.get(this.#tag) ?? '').trim();
    // A link to a fragment does not lead to another page.
    if (address === '' || address.startsWith('#') || address.length > MAX_ADDRESS) return;
    const nofollow = /\bnofollow\b/i.test(attribute('rel'));
    const existing = this.addresses.get(address);
    if (existing === undefined && this.addresses.size >= this.#max) return;
    this.addresses.set(address, nofollow && existing !== false);
  }

  onselfclosingtag(): void {
    if (FOREIGN.has(this.#tag)) this.#foreign -= 1;
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    if (this.#foreign > 0 && end - start <= 4 && FOREIGN.has(this.#html.slice(start, end).toLowerCase()))
      this.#foreign -= 1;
  }

  /** Whether `<style/>` is an empty element, as in drawings; otherwise it begins a style sheet. */
  isInForeignContext(): boolean {
    return this.#foreign > 0;
  }

  ontext(): void {}
  ontextentity(): void {}
  oncdata(): void {}
  onattribentity(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
}
