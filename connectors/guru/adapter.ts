import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { escapeHtml } from '../html.js';
import { type Answer, asAnswer, asTimestamp, asText } from '../json.js';
import { createItem, createContainer } from '../items.js';
import type { GuruCard, GuruCollection, GuruFolder } from './fields.js';

export type Kind = 'collection' | 'folder' | 'card';
export interface ItemRef {
  readonly kind: Kind;
  readonly id: string;
}

const ID = /^[\w-]{1,100}$/;
export const externalIdOf = ({ kind, id }: ItemRef): string => (kind === 'card' ? id : `${kind}:${id}`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [, kind = 'card', id = ''] = /^(?:(collection|folder):)?(.+)$/s.exec(externalId) ?? [];
  return ID.test(id) ? { kind: kind as Kind, id } : null;
}

const MAX_NAME = 1_000;
/** Returns the URL for a user's browser, which contains the object's slug. */
const urlOf = (segment: 'card' | 'folders' | 'collections', json: Pick<Answer<GuruCard>, 'slug'>): string | null => {
  const slug = asText(json.slug);
  return slug === null ? null : `https://app.getguru.com/${segment}/${slug}`;
};

interface ParentIds {
  readonly parent: string | null;
  readonly root: string | null;
}
/** A collection, a folder or a card. Fields that only other kinds have are absent. */
type Member = Answer<GuruCollection | GuruFolder | GuruCard>;
const container = (itemRef: ItemRef, json: Member, parents: ParentIds): SourceItem =>
  createContainer({
    externalId: externalIdOf(itemRef),
    parentExternalId: parents.parent,
    rootExternalId: parents.root,
    name: (asText(json.name) ?? asText(json.title) ?? itemRef.id).slice(0, MAX_NAME),
    itemType: itemRef.kind === 'folder' ? 'FOLDER' : 'COLLECTION',
    externalUrl: urlOf(itemRef.kind === 'folder' ? 'folders' : 'collections', json),
    createdAt: asTimestamp(json.dateCreated),
  });

/** Returns the title of a card. */
export const titleOf = (card: Pick<Answer<GuruCard>, 'preferredPhrase'>): string =>
  (asText(card.preferredPhrase) ?? '').slice(0, MAX_NAME);

/** Converts a collection, folder or card; null for an invalid answer, and for an archived card. */
export function itemOf(kind: Kind, json: Member, parents: ParentIds): SourceItem | null {
  const id = asText(json.id);
  if (id === null || !ID.test(id) || json.archived === true) return null;
  if (kind !== 'card') return container({ kind, id }, json, parents);
  return createItem({
    externalId: id,
    parentExternalId: parents.parent,
    rootExternalId: parents.root,
    name: titleOf(json) || id,
    itemType: 'CARD',
    externalUrl: urlOf('card', json),
    fileFormat: 'HTML',
    hasContent: true,
    createdAt: asTimestamp(json.dateCreated),
    version: asTimestamp(json.lastModified),
  });
}

/** Returns a card's content: title and text. */
export function contentOf(card: Answer<GuruCard>, externalId: string): ItemContent {
  const title = titleOf(card);
  const changed = asTimestamp(card.lastModified);
  const { id, name } = asAnswer<GuruCollection>(card.collection);
  return {
    bytes: Buffer.from(
      `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><main><h1>${escapeHtml(title)}</h1>\n${asText(card.content) ?? ''}</main></body></html>`,
    ),
    contentType: 'text/html; charset=utf-8',
    format: 'GURU',
    mimeType: 'text/html',
    name: title === '' ? null : title,
    url: urlOf('card', card) ?? externalId,
    fileMetadata: {
      type: 'CARD',
      ...(asText(id) === null ? {} : { collection_id: id }),
      ...(asText(name) === null ? {} : { collection_name: name }),
      ...(asText(card.verificationState) === null ? {} : { verification_state: card.verificationState }),
      ...(changed === null ? {} : { updated_at: changed }),
    },
  };
}
