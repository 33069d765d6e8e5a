import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

import { normaliseUrl } from '../../contract/urls.js';
import type { LinkOptions } from '../types.js';

/** Longer addresses are made by scripts and traps, not by authors. */
const MAX_ADDRESS = 2000;
/** Links that are looked at for each one that may be answered. */
const LOOKED_AT_PER_LINK = 20;
/** What a link in it may lead to, and the attribute that says where. */
const TARGETS: ReadonlyMap<string, string> = new Map([
  ['a', 'href'],
  ['area', 'href'],
  ['frame', 'src'],
]);
/** Elements whose attributes are read. */
const READ: ReadonlySet<string> = new Set([...TARGETS.keys(), 'base', 'meta']);

/** Endings of addresses that are no pages: a crawl would spend its pages on them. Not .js and the like: pages are named so. */
const NO_PAGE =
  /\.(?:7z|aac|apk|atom|avi|avif|bmp|bz2|csv|deb|dmg|docx?|eot|epub|exe|flac|gif|gz|ico|ics|jar|jpe?g|m4[av]|mkv|mov|mp[234]|mpe?g|msi|ods|odt|og[agv]|opus|otf|pdf|png|pptx?|psd|rar|rpm|rss|rtf|svg|tar|tgz|tiff?|ttf|wav|webm|webp|wmv|woff2?|xlsx?|xml|xz|zip|zst)$/i;

/**
 * The addresses an HTML page links to, normalised, each once, in the order of the page. Linear in the page's length;
 * scripts, comments and templates are read as the text that they are.
 * @param baseUrl what relative links start from, unless the page names a base of its own
 */
export function readLinks(html: string, baseUrl: string, { max, follow }: LinkOptions): string[] {
  const reader = new LinkReader(html, max * LOOKED_AT_PER_LINK);
  const tokenizer = new Tokenizer({}, reader);
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

class LinkReader implements TokenizerCallbacks {
  /** As the page writes them, with whether it asks crawlers not to follow. */
  readonly addresses = new Map<string, boolean>();
  base = '';
  /** Whether the page asks crawlers to follow none of its links. */
  closed = false;
  readonly #html: string;
  readonly #max: number;
  #tag = '';
  #name = '';
  #value = '';
  #attributes = new Map<string, string>();

  constructor(html: string, max: number) {
    this.#html = html;
    this.#max = max;
  }

  onopentagname(start: number, end: number): void {
    // No name of interest is longer.
    this.#tag = end - start > 5 ? '' : this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    const wanted = READ.has(this.#tag) && this.#attributes.size < 20 && end - start <= 10;
    this.#name = wanted ? this.#html.slice(start, end).toLowerCase() : '';
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    // One character past the limit is enough to know that it was passed.
    if (this.#name !== '' && this.#value.length <= MAX_ADDRESS)
      this.#value += this.#html.slice(start, Math.min(end, start + MAX_ADDRESS + 1));
  }

  onattribentity(codePoint: number): void {
    if (this.#name !== '' && this.#value.length <= MAX_ADDRESS) this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    if (this.#name !== '' && !this.#attributes.has(this.#name)) this.#attributes.set(this.#name, this.#value);
  }

  onopentagend(): void {
    const given = (name: string): string => this.#attributes.get(name) ?? '';
    if (this.#tag === 'base') this.base ||= given('href');
    else if (this.#tag === 'meta' && given('name').toLowerCase() === 'robots')
      this.closed ||= /\b(?:nofollow|none)\b/i.test(given('content'));
    const address = given(TARGETS.get(this.#tag) ?? '').trim();
    // A link into the page itself leads nowhere else.
    if (address === '' || address.startsWith('#') || address.length > MAX_ADDRESS) return;
    const nofollow = /\bnofollow\b/i.test(given('rel'));
    const known = this.addresses.get(address);
    if (known === undefined && this.addresses.size >= this.#max) return;
    this.addresses.set(address, nofollow && known !== false);
  }

  onselfclosingtag(): void {
    this.onopentagend();
  }

  isInForeignContext(): boolean {
    return false;
  }

  onclosetag(): void {}
  ontext(): void {}
  ontextentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
}
