/** Lists and reads the items of a helpdesk from a table with one row per kind. */
import { Fault } from '../contract/failures.js';
import type { Connector, ItemContent } from './connector.js';
import type { AccountClient } from './accountClient.js';
import type { ItemPage, SourceItem } from './sourceItem.js';
import { noSuchItem } from './faults.js';
import { type AccountIds, type TypeSelection, createTypeSelection } from './helpdesk.js';

/** A request for a page of an item and its wanted descendants. */
export interface ListRequest<ItemRef = { readonly id: string }> {
  readonly place: ItemRef;
  readonly wanted: TypeSelection;
  readonly externalId: string;
}

/** One kind of item that a helpdesk lists. */
export interface ItemKind<Client, ItemRef> {
  /** Returns a page of an item and its descendants. @throws Fault not_found */
  list(client: Client, request: ListRequest<ItemRef>, cursor: string | null): Promise<ItemPage>;
  /** Returns the text of an item. Unset: items of this kind only contain others. @throws Fault not_found */
  open?(client: Client, request: { readonly place: ItemRef; readonly externalId: string }): Promise<ItemContent>;
}
type RefOf<ItemRef, Name> = ItemRef extends { readonly kind: infer Kind }
  ? Name extends Kind
    ? ItemRef
    : never
  : never;

interface Helpdesk<Credentials, ItemRef extends { readonly kind: string }> {
  readonly name: string;
  /** Unset: ids are unique across all accounts. */
  idsIn?(credentials: Credentials): AccountIds;
  /** Parses an id without its account; null if it is invalid. */
  parseItemId(id: string): ItemRef | null;
  /** One row per kind, by the name that `parseItemId` returns. */
  readonly kinds: {
    readonly [Name in ItemRef['kind']]: ItemKind<AccountClient<Credentials>, RefOf<ItemRef, Name>>;
  };
}

const SAME_IDS: AccountIds = { outer: (id) => id, inner: (id) => id, page: (page) => page };

/** Returns a connector's functions that list and read items, from the table of kinds. */
export function itemsByKind<Credentials, ItemRef extends { readonly kind: string }>(
  helpdesk: Helpdesk<Credentials, ItemRef>,
): Pick<Connector<Credentials>, 'listDescendants' | 'open'> {
  const { name, idsIn = () => SAME_IDS, parseItemId } = helpdesk;
  const kinds: Readonly<Record<string, ItemKind<AccountClient<Credentials>, never>>> = helpdesk.kinds;
  const find = (id: string) => {
    const place = parseItemId(id);
    const kind = place === null ? undefined : kinds[place.kind];
    if (kind === undefined) throw noSuchItem(name);
    return { place: place as never, kind };
  };
  return {
    async listDescendants(client, externalId, cursor, typeFilter) {
      const ids = idsIn(client.credentials);
      const inner = ids.inner(externalId);
      const wanted = createTypeSelection(typeFilter);
      const { place, kind } = find(inner);
      return ids.page(wanted.withTypes(inner, await kind.list(client, { place, wanted, externalId: inner }, cursor)));
    },
    async open(client, externalId) {
      const { place, kind } = find(idsIn(client.credentials).inner(externalId));
      if (kind.open) return kind.open(client, { place, externalId });
      throw new Fault('unsupported_type', `This has no text of its own in ${name}: sync its contents.`);
    },
  };
}

/** Returns the only page of a list with one item. */
export const pageOf = async (item: Promise<SourceItem>): Promise<ItemPage> => ({ items: [await item], next: null });
