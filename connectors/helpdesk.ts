/** What the sources that are helpdesks have in common: what an article, a ticket or something attached is as an item and as a text. */
import { Fault } from '../contract/failures.js';
import { formatOfName, formatOfType, type ServiceFormat } from '../contract/files/fileFormats.js';
import type { TagValue } from '../contract/files/records.js';
import {
  isChosenByType,
  EXCLUDED_BY_TYPE,
  type TypeAtSource,
  type TypeFilter,
} from '../contract/sources/typesAtSource.js';
import type { ItemContent, ItemPage, SkippedItem, SourceAnswer, SourceClient, SourceItem } from './connector.js';
import { escapeHtml } from './html.js';
import { createItem, fileBytes } from './items.js';

import { incompleteAnswer } from './faults.js';
import { omitNull, type Json, asText } from './json.js';
/** Returns a numeric id, given as a number or a text; null if it is invalid. */
export const idOf = (value: unknown): string | null =>
  (typeof value === 'number' || typeof value === 'string') && /^\d{1,20}$/.test(String(value)) ? String(value) : null;
/** ISO 8601, of a date as it is written there or of seconds since 1970. */
export function dateOf(value: unknown): string | null {
  const at = typeof value === 'number' ? value * 1000 : Date.parse(asText(value) ?? '');
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
}
/** The answer, found to be about an id. @throws Fault server_error where it is about nothing: not_found would delete the item */
export function answerAbout(source: string, id: string, json: Json): Json {
  if (idOf(json['id']) === id) return json;
  throw incompleteAnswer(source, 'what was asked for');
}

/** Returns the entry for an unpublished article; null for others. */
export function draftOf(json: Json, name: string | null): SkippedItem | null {
  const id = idOf(json['id']);
  const reason = 'It is not published. Publish it there, then sync again.';
  return id === null ? null : { externalId: `article:${id}`, name: name ?? id, reason, typeAtSource: 'ARTICLE' };
}

/** Ids as others see them, of a source whose accounts each count their tickets from one: with the account before them. */
export interface AccountIds {
  outer(id: string): string;
  /** '' for an id of another account, which is that of nothing here. */
  inner(externalId: string): string;
  page(page: ItemPage): ItemPage;
}
/** Returns the conversion between the ids of an account's items and the provider's: ours begin with the account. */
export function idsOf(account: string): AccountIds {
  const before = `${account.toLowerCase()}/`;
  const outer = (id: string): string => `${before}${id}`;
  const orNull = (id: string | null): string | null => (id === null ? null : outer(id));
  return {
    outer,
    inner: (externalId) => (externalId.startsWith(before) ? externalId.slice(before.length) : ''),
    page: ({ items, skipped = [], ...page }) => ({
      ...page,
      items: items.map((item) => ({
        ...item,
        externalId: outer(item.externalId),
        parentExternalId: orNull(item.parentExternalId),
        rootExternalId: orNull(item.rootExternalId),
        ...(item.place === undefined ? {} : { place: outer(item.place) }),
      })),
      skipped: skipped.map((one) => ({ ...one, externalId: outer(one.externalId) })),
    }),
  };
}
export const tagsOf = (tags: Readonly<Record<string, string | null>>): Readonly<Record<string, TagValue>> =>
  omitNull(tags);

/** An attachment according to its source. */
export interface Attached {
  /** The whole of our id. */
  readonly externalId: string;
  readonly name: string | null;
  readonly contentType: string | null;
  /** Another one with another content. */
  readonly version: string;
}

/** @param to what it is attached to @param type that one's */
export const itemOfAttached = (
  { externalId, name, contentType, version }: Attached,
  to: Pick<SourceItem, 'externalId' | 'rootExternalId' | 'externalUrl' | 'createdAt'>,
  type: TypeAtSource,
): SourceItem =>
  createItem({
    externalId,
    parentExternalId: to.externalId,
    rootExternalId: to.rootExternalId,
    name: name ?? 'attachment',
    itemType: 'TICKET_ATTACHMENT',
    externalUrl: to.externalUrl,
    fileFormat: formatOfName(name ?? '') ?? formatOfType(contentType),
    hasContent: true,
    createdAt: to.createdAt,
    version,
    attachedTo: type,
    // Below the path of its parent: change feeds delete the other attachments of the parent by this.
    place: externalId,
  });

/** The bytes of something attached, as it is declared, or else as its name says. */
export function contentOfAttached(
  { name, contentType }: Attached,
  { bytes, headers }: SourceAnswer,
  externalId: string,
): ItemContent {
  return {
    ...fileBytes(bytes, contentType ?? headers['content-type'], name),
    name,
    url: externalId,
    facts: {
      type: 'TICKET_ATTACHMENT',
      parent_external_file_id: externalId.slice(0, externalId.lastIndexOf('/')),
    },
  };
}

/** Something that was said in a ticket or a conversation. */
export interface Comment {
  readonly who: string | null;
  /** ISO 8601. */
  readonly at: string | null;
  readonly text: string;
  /** Those who asked do not see it. */
  readonly isInternal?: boolean;
}

/** Of one ticket or conversation. */
const MAX_CHARACTERS = 20_000_000;

/** A ticket or a conversation as a plain text: its subject, and what was said, in its order. @throws Fault too_large */
export function textOfComments(subject: string | null, comments: readonly Comment[]): Uint8Array {
  const paragraphs = comments
    .filter(({ text }) => text.trim() !== '')
    .map(({ who, at, text, isInternal = false }) => {
      const when = at === null ? '' : `, ${at.slice(0, 16).replace('T', ' ')}`;
      return `${who ?? 'Somebody'}${when}${isInternal ? ' (internal note)' : ''}: ${text.replaceAll('\r\n', '\n').trim()}`;
    });
  const whole = [...(subject === null ? [] : [`# ${subject}`]), ...paragraphs];
  if (whole.reduce((sum, one) => sum + one.length, 0) > MAX_CHARACTERS)
    throw new Fault(
      'too_large',
      `The comments here have more than ${MAX_CHARACTERS.toLocaleString('en')} characters. It is not synced.`,
    );
  return Buffer.from(whole.join('\n\n'));
}

/** The content of a ticket or a conversation. @param format the source's own */
export const contentOfComments = (
  format: ServiceFormat,
  given: Pick<ItemContent, 'name' | 'facts' | 'url'> & { readonly comments: readonly Comment[] },
): ItemContent => ({
  bytes: textOfComments(given.name, given.comments),
  contentType: 'text/plain; charset=utf-8',
  format,
  mimeType: 'text/plain',
  name: given.name,
  url: given.url,
  facts: given.facts,
});

/** An article in one language. */
export interface ArticleText {
  readonly title: string | null;
  /** HTML. */
  readonly body: string;
}

/** The content of an article: its texts in all languages, the first one's title is its name. */
export const contentOfArticle = (
  format: ServiceFormat,
  given: Pick<ItemContent, 'facts' | 'url'> & { readonly texts: readonly ArticleText[] },
): ItemContent => {
  const texts = given.texts.map(({ title, body }) => `<h1>${escapeHtml(title ?? '')}</h1>\n${body}`);
  return {
    // Each in an article of its own: what a body leaves open ends there.
    bytes: Buffer.from(
      `<!doctype html><html><body><main>${texts.map((text) => `<article>${text}</article>`).join('\n')}</main></body></html>`,
    ),
    contentType: 'text/html; charset=utf-8',
    format,
    mimeType: 'text/html',
    name: given.texts[0]?.title ?? null,
    url: given.url,
    facts: given.facts,
  };
};

/** Returns the wanted parts of a listing; without a filter, all of it. */
export function wantedOf(typeFilter: TypeFilter | undefined) {
  const unlisted = new Set<TypeAtSource>();
  return {
    /** Whether things of a type are: where not, they need not be listed. */
    of(type: TypeAtSource): boolean {
      const isWanted = !typeFilter || isChosenByType({ typeAtSource: type }, typeFilter);
      if (!isWanted) unlisted.add(type);
      return isWanted;
    },
    attachedTo: (type: TypeAtSource): boolean => !typeFilter || isChosenByType({ attachedTo: type }, typeFilter),
    /** Whether files are created: then their facts are requested. */
    makesFiles: typeFilter !== undefined,
    /** Adds the types that were not listed to a page of an item's contents. */
    withTypes: (externalId: string, { skipped = [], ...page }: ItemPage): ItemPage => ({
      ...page,
      skipped: [
        ...skipped,
        ...[...unlisted].map((type) => ({ externalId, name: `All of type ${type}`, reason: EXCLUDED_BY_TYPE })),
      ],
    }),
  };
}
export type Wanted = ReturnType<typeof wantedOf>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  // Last, so that its result is not decoded again.
  '&amp;': '&',
};

/** What a message in HTML says, without its markup: no more than lines is left of its form. */
export function plainOf(html: string): string {
  const lines = html.replaceAll(/<(?:br|\/p|\/div|\/li|\/h\d|\/tr)\b[^<>]*>/gi, '\n').replaceAll(/<[^<>]*>/g, '');
  return Object.entries(ENTITIES)
    .reduce((text, [entity, shown]) => text.replaceAll(entity, shown), lines)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const MAX_REDIRECTS = 3;

/** Fetches the bytes at a signed address, at any host: no credentials are sent, and its errors do not disconnect the account. */
export async function fetchSigned(client: SourceClient, source: string, address: string): Promise<SourceAnswer> {
  let url = address;
  for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
    if (!URL.canParse(url)) break;
    const answer = await client.send({ url, headers: {}, isContent: true, takes: () => true });
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return answer;
    const location = headers['location'] ?? '';
    if (status >= 500) throw new Fault('server_error', `${source} failed to give out what is attached. Try again.`);
    if (status < 300 || status >= 400 || !URL.canParse(location, url)) break;
    url = new URL(location, url).href;
  }
  throw new Fault('not_found', `${source} did not give out what is attached: it may have been deleted. Sync it again.`);
}
