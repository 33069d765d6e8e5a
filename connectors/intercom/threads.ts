/** Lists and reads conversations and tickets: a search lists them, and each one is read separately. */
import { withCursor, boolean, shapeOf, listOf, nullable, string, type Checked } from '../cursors.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { requireMatchingId, idOf, itemOfAttached, type TypeSelection } from '../helpdesk.js';
import {
  attachedIn,
  itemOfContainer,
  itemOfConversation,
  itemOfTicket,
  NO_PEOPLE,
  type People,
  type ThreadJson,
  type ThreadKind,
  submitterOf,
  TYPE_OF,
} from './adapter.js';
import { NAME, fetchSearchPage } from './api.js';
import { type Answer, asAnswer, asAnswers, asText } from '../json.js';
import type { IntercomList, IntercomPerson, IntercomTicket } from './fields.js';
import { isFault, noSuchItem } from '../faults.js';

/** Maximum number of concurrent requests for single items. */
export const AT_ONCE = 20;
export const LISTS = { conversation: 'conversations', ticket: 'tickets' } as const;

/** Returns a conversation or ticket with all its parts. @throws Fault not_found */
export async function readThread(
  client: SourceClient,
  kind: ThreadKind,
  id: string,
): Promise<{ readonly json: ThreadJson; readonly item: SourceItem }> {
  // Texts are requested as HTML, the default. In Intercom's plain text, a `<` that a user wrote is not escaped, and
  // plainOf would remove it as a tag.
  const json: ThreadJson = requireMatchingId(NAME, id, await client.get([LISTS[kind], id], {}));
  const item = kind === 'ticket' ? itemOfTicket(json, await peopleOf(client, [json])) : itemOfConversation(json);
  if (item === null) throw noSuchItem(NAME);
  return { json, item };
}

const namesIn = (list: unknown): ReadonlyMap<string, string> =>
  new Map(
    asAnswers<IntercomPerson>(list).flatMap((person) => {
      const [id, name] = [idOf(person.id), asText(person.email) ?? asText(person.name)];
      return id === null || name === null ? [] : [[id, name] as const];
    }),
  );

/** Returns the result of a call; null if the requested users are inaccessible or deleted. */
async function unlessClosed<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isFault(error, 'not_found') || isFault(error, 'access_denied')) return null;
    throw error;
  }
}

/** Returns the names of the users that tickets refer to. */
async function peopleOf(client: SourceClient, tickets: readonly Answer<IntercomTicket>[]): Promise<People> {
  if (tickets.length === 0) return NO_PEOPLE;
  const submitters = [...new Set(tickets.flatMap((ticket) => submitterOf(ticket) ?? []))];
  const [admins, teams, ...contacts] = await Promise.all([
    unlessClosed(client.get(['admins'], {})),
    unlessClosed(client.get(['teams'], {})),
    ...submitters.map((id) => unlessClosed(client.get(['contacts', id], {}))),
  ]);
  return {
    admins: namesIn(asAnswer<IntercomList>(admins).admins),
    teams: namesIn(asAnswer<IntercomList>(teams).teams),
    contacts: new Map(
      submitters.flatMap((id, at) => {
        const contact = asAnswer<IntercomPerson>(contacts[at]);
        const name = asText(contact.email) ?? asText(contact.name);
        return name === null ? [] : [[id, name] as const];
      }),
    ),
  };
}

const CURSOR = shapeOf({
  at: nullable(string),
  isEnd: boolean,
  /** Items whose attachments are still to be listed. */
  rest: listOf(string),
});
type Cursor = Checked<typeof CURSOR>;
const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.isEnd && cursor.rest.length === 0 ? null : cursor);

const itemsAttached = (json: ThreadJson, item: SourceItem, kind: ThreadKind): readonly SourceItem[] =>
  attachedIn(json, kind).map((attachment) => itemOfAttached(attachment, item, TYPE_OF[kind]));

interface All {
  readonly kind: ThreadKind;
  readonly typeSelection: TypeSelection;
}

/** Returns a page of all conversations or tickets, or of the attachments of those on the previous page. */
export const listThreads = withCursor(CURSOR, async (client: SourceClient, { kind, typeSelection }: All, cursor) => {
  if (cursor === null) {
    const isEnd = !typeSelection.of(TYPE_OF[kind]);
    return { items: [itemOfContainer(LISTS[kind])], next: unlessEnd({ at: null, isEnd, rest: [] }) };
  }
  if (cursor.rest.length > 0) {
    const batch = cursor.rest.slice(0, AT_ONCE);
    const read = batch.map((id) => unlessGone(attachedTo(client, kind, id)));
    const items = (await Promise.all(read)).flat();
    return { items, next: unlessEnd({ ...cursor, rest: cursor.rest.slice(AT_ONCE) }) };
  }
  const { values, next } = await fetchSearchPage(client, LISTS[kind], cursor.at);
  const people = kind === 'ticket' && typeSelection.makesFiles ? await peopleOf(client, values) : NO_PEOPLE;
  const items = values.flatMap(
    (value) => (kind === 'ticket' ? itemOfTicket(value, people) : itemOfConversation(value)) ?? [],
  );
  const rest = typeSelection.attachedTo(TYPE_OF[kind])
    ? items.map(({ externalId }) => externalId.slice(kind.length + 1))
    : [];
  return { items, next: unlessEnd({ at: next, isEnd: next === null, rest }) };
});

/** Returns the items, or none if their parent was deleted in the meantime. */
export async function unlessGone(items: Promise<readonly SourceItem[]>): Promise<readonly SourceItem[]> {
  try {
    return await items;
  } catch (error) {
    if (isFault(error, 'not_found')) return [];
    throw error;
  }
}

export async function attachedTo(client: SourceClient, kind: ThreadKind, id: string): Promise<readonly SourceItem[]> {
  const json: ThreadJson = requireMatchingId(NAME, id, await client.get([LISTS[kind], id], {}));
  const item = kind === 'ticket' ? itemOfTicket(json, NO_PEOPLE) : itemOfConversation(json);
  return item === null ? [] : itemsAttached(json, item, kind);
}

/** Returns one conversation or ticket, with its attachments if they are wanted. */
export async function listThread(
  client: SourceClient,
  kind: ThreadKind,
  id: string,
  typeSelection: TypeSelection,
): Promise<ItemPage> {
  const { json, item } = await readThread(client, kind, id);
  const attached = typeSelection.attachedTo(TYPE_OF[kind]) ? itemsAttached(json, item, kind) : [];
  return { items: [item, ...attached], next: null };
}

/** Returns one attachment, with the item it belongs to. @throws Fault not_found */
export async function findAttached(
  client: SourceClient,
  { of, id }: { readonly of: ThreadKind; readonly id: string },
  externalId: string,
) {
  const { json, item } = await readThread(client, of, id);
  const attached = attachedIn(json, of).find((candidate) => candidate.externalId === externalId);
  if (!attached) throw noSuchItem(NAME);
  return { attached, item };
}
