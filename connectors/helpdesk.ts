/** Common parts of the helpdesk sources: conversion of articles, tickets and attachments to items and texts. */
import { Fault } from '../contract/failures.js';
import { retryAfterMs } from '../egress/retryAfter.js';
import { formatOfName, formatOfType, type ServiceFormat } from '../contract/files/fileFormats.js';
import type { TagValue } from '../contract/files/records.js';
import {
  isChosenByType,
  EXCLUDED_BY_TYPE,
  type TypeAtSource,
  type TypeFilter,
} from '../contract/sources/typesAtSource.js';
import type { ItemContent } from './connector.js';
import type { SourceAnswer, SourceClient } from './accountClient.js';
import type { ItemPage, SkippedItem, SourceItem } from './sourceItem.js';
import { escapeHtml } from './html.js';
import { createItem, fileBytes, UNKNOWN_AUTHOR } from './items.js';
import { incompleteAnswer } from './faults.js';
import { type Answer, omitNull, type Json, asText } from './json.js';
/** Returns a numeric id, given as a number or a text; null if it is invalid. */
export const idOf = (value: unknown): string | null =>
  (typeof value === 'number' || typeof value === 'string') && /^\d{1,20}$/.test(String(value)) ? String(value) : null;
/** Returns a date as ISO 8601, from a date text or seconds since 1970. */
export function dateOf(value: unknown): string | null {
  const at = typeof value === 'number' ? value * 1000 : Date.parse(asText(value) ?? '');
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
}
/**
 * Returns the answer if it has the requested id. @throws Fault server_error otherwise: not_found would delete the
 * item
 */
export function requireMatchingId(source: string, id: string, json: Json): Json {
  if (idOf(json['id']) === id) return json;
  throw incompleteAnswer(source, 'the requested item');
}

/**
 * Returns the skipped entry of an unpublished article; null for one without an id. The caller checks that the article
 * is unpublished.
 */
export function draftOf(json: Answer<{ id: unknown }>, name: string | null): SkippedItem | null {
  const id = idOf(json.id);
  const reason = 'It is not published. Publish it at the source, then sync again.';
  return id === null ? null : { externalId: `article:${id}`, name: name ?? id, reason, typeAtSource: 'ARTICLE' };
}

/** Converts between item ids and provider ids, for sources whose accounts each number their tickets from 1. */
export interface AccountIds {
  outer(id: string): string;
  /** Returns the provider id; '' for an id of another account, which matches no item. */
  inner(externalId: string): string;
  page(page: ItemPage): ItemPage;
}
/** Returns the conversion between the ids of an account's items and the provider's. Item ids begin with the account. */
export function idsOf(account: string): AccountIds {
  const before = `${account.toLowerCase()}/`;
  const outer = (id: string): string => `${before}${id}`;
  const orNull = (id: string | null): string | null => (id === null ? null : outer(id));
  return {
    outer,
    inner: (externalId) => (externalId.startsWith(before) ? externalId.slice(before.length) : ''),
    page: ({ items, skipped = [], refused, ...page }) => ({
      ...page,
      ...(refused === undefined ? {} : { refused: refused.map(outer) }),
      items: items.map((item) => ({
        ...item,
        externalId: outer(item.externalId),
        parentExternalId: orNull(item.parentExternalId),
        rootExternalId: orNull(item.rootExternalId),
        ...(item.path === undefined ? {} : { path: outer(item.path) }),
      })),
      skipped: skipped.map((entry) => ({ ...entry, externalId: outer(entry.externalId) })),
    }),
  };
}
export const tagsOf = (tags: Readonly<Record<string, string | null>>): Readonly<Record<string, TagValue>> =>
  omitNull(tags);

/** An attachment as described by its source. */
export interface Attached {
  /** The item id, including that of the parent. */
  readonly externalId: string;
  readonly name: string | null;
  readonly contentType: string | null;
  /** Changes with the content. */
  readonly version: string;
}

/** Converts an attachment. @param to item that it is attached to @param type source type of that item */
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
    // The path is below the parent's id. When the parent changes, the feed reports the parent's id as a deleted path
    // and lists the current attachments. Stored attachments below the path that are not among these are deleted.
    path: externalId,
  });

/** Returns an attachment's content. Its type is the declared one; if no parser supports it, the name decides. */
export function contentOfAttached(
  { name, contentType }: Attached,
  { bytes, headers }: SourceAnswer,
  externalId: string,
): ItemContent {
  return {
    ...fileBytes(bytes, contentType ?? headers['content-type'], name),
    name,
    url: externalId,
    fileMetadata: {
      type: 'TICKET_ATTACHMENT',
      parent_external_file_id: externalId.slice(0, externalId.lastIndexOf('/')),
    },
  };
}

/** A comment of a ticket or conversation. */
export interface Comment {
  readonly author: string | null;
  /** ISO 8601. */
  readonly at: string | null;
  readonly text: string;
  /** Whether it is hidden from the customer. */
  readonly isInternal?: boolean;
}

/** Maximum number of characters of one ticket or conversation. */
const MAX_CHARACTERS = 20_000_000;

/** Renders a ticket or conversation as plain text: subject, then comments in order. @throws Fault too_large */
export function textOfComments(subject: string | null, comments: readonly Comment[]): Uint8Array {
  const paragraphs = comments
    .filter(({ text }) => text.trim() !== '')
    .map(({ author: who, at, text, isInternal = false }) => {
      const when = at === null ? '' : `, ${at.slice(0, 16).replace('T', ' ')}`;
      return `${who ?? UNKNOWN_AUTHOR}${when}${isInternal ? ' (internal note)' : ''}: ${text.replaceAll('\r\n', '\n').trim()}`;
    });
  const parts = [...(subject === null ? [] : [`# ${subject}`]), ...paragraphs];
  if (parts.reduce((sum, part) => sum + part.length, 0) > MAX_CHARACTERS)
    throw new Fault(
      'too_large',
      `The ticket or conversation is not synced: it has more than ${MAX_CHARACTERS.toLocaleString('en')} characters.`,
    );
  return Buffer.from(parts.join('\n\n'));
}

/** Returns the content of a ticket or conversation. @param format name of the source's format */
export const contentOfComments = (
  format: ServiceFormat,
  given: Pick<ItemContent, 'name' | 'fileMetadata' | 'url'> & { readonly comments: readonly Comment[] },
): ItemContent => ({
  bytes: textOfComments(given.name, given.comments),
  contentType: 'text/plain; charset=utf-8',
  format,
  mimeType: 'text/plain',
  name: given.name,
  url: given.url,
  fileMetadata: given.fileMetadata,
});

/** An article in one language. */
export interface ArticleText {
  readonly title: string | null;
  /** HTML. */
  readonly body: string;
}

/** Returns an article's content: its texts in all languages. Its name is the title of the first one. */
export const contentOfArticle = (
  format: ServiceFormat,
  given: Pick<ItemContent, 'fileMetadata' | 'url'> & { readonly texts: readonly ArticleText[] },
): ItemContent => {
  const texts = given.texts.map(({ title, body }) => `<h1>${escapeHtml(title ?? '')}</h1>\n${body}`);
  return {
    // Each text is in an <article> of its own, so that unclosed tags do not affect the next one.
    bytes: Buffer.from(
      `<!doctype html><html><body><main>${texts.map((text) => `<article>${text}</article>`).join('\n')}</main></body></html>`,
    ),
    contentType: 'text/html; charset=utf-8',
    format,
    mimeType: 'text/html',
    name: given.texts[0]?.title ?? null,
    url: given.url,
    fileMetadata: given.fileMetadata,
  };
};

/** Creates functions that state which types a listing must contain; without a filter, all types. */
export function createTypeSelection(typeFilter: TypeFilter | undefined) {
  const unlisted = new Set<TypeAtSource>();
  return {
    /** Whether items of a type are wanted; others need not be listed. */
    of(type: TypeAtSource): boolean {
      const isWanted = !typeFilter || isChosenByType({ typeAtSource: type }, typeFilter);
      if (!isWanted) unlisted.add(type);
      return isWanted;
    },
    attachedTo: (type: TypeAtSource): boolean => !typeFilter || isChosenByType({ attachedTo: type }, typeFilter),
    /**
     * Whether the listed items may become files: only a sync has a type filter. Then a connector may also request the
     * names of people, which become tags of the files.
     */
    makesFiles: typeFilter !== undefined,
    /** Adds a skipped entry to a page for each type that was not listed. */
    withTypes: (externalId: string, { skipped = [], ...page }: ItemPage): ItemPage => ({
      ...page,
      skipped: [
        ...skipped,
        ...[...unlisted].map((type) => ({ externalId, name: `All of type ${type}`, reason: EXCLUDED_BY_TYPE })),
      ],
    }),
  };
}
export type TypeSelection = ReturnType<typeof createTypeSelection>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  // Last, so that its result is not decoded again.
  '&amp;': '&',
};

/** Converts an HTML message to plain text; only line breaks are kept. */
export function plainOf(html: string): string {
  const lines = html.replaceAll(/<(?:br|\/p|\/div|\/li|\/h\d|\/tr)\b[^<>]*>/gi, '\n').replaceAll(/<[^<>]*>/g, '');
  return Object.entries(ENTITIES)
    .reduce((text, [entity, shown]) => text.replaceAll(entity, shown), lines)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const MAX_REDIRECTS = 3;
/** Wait if the host of an attachment requests backoff without a duration. */
const DEFAULT_WAIT_MS = 10_000;

/** Fetches a signed URL on any host. No credentials are sent, and a refusal does not revoke the account. */
export async function fetchSigned(client: SourceClient, source: string, address: string): Promise<SourceAnswer> {
  let url = address;
  for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
    if (!URL.canParse(url)) break;
    const answer = await client.send({ url, headers: {}, isContent: true, isExpected: () => true });
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return answer;
    const location = headers['location'] ?? '';
    // These refusals do not mean that the attachment is missing. A not_found is not retried: the file would fail.
    if (status === 429)
      throw new Fault('rate_limited', `${source} accepts no more downloads of attachments for now. Try again later.`, {
        retryAfterMs: retryAfterMs(headers) ?? DEFAULT_WAIT_MS,
      });
    if (status >= 500 || status === 408)
      throw new Fault('server_error', `${source} failed to send the attachment. Try again.`);
    if (status < 300 || status >= 400 || !URL.canParse(location, url)) break;
    url = new URL(location, url).href;
  }
  throw new Fault('not_found', `${source} did not send the attachment: it may have been deleted. Sync it again.`);
}
