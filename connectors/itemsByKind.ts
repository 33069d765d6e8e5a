/** Lists and reads the items of a helpdesk; a table has the functions for each kind of item. */
import { Fault } from '../contract/failures.js';
import type { Connector, ItemContent } from './connector.js';
import type { AccountClient } from './accountClient.js';
import type { ItemPage, SourceItem } from './sourceItem.js';
import { noSuchItem } from './faults.js';
import { type AccountIds, type TypeSelection, createTypeSelection } from './helpdesk.js';

/** A request for one page of an item's listing: the item and those of its descendants that are requested. */
export interface ListRequest<ItemRef = { readonly id: string }> {
  readonly itemRef: ItemRef;
  readonly typeSelection: TypeSelection;
  readonly externalId: string;
}

/** One kind of item that a helpdesk lists. */
export interface ItemKind<Client, ItemRef> {
  /** Returns a page of an item and its descendants. @throws Fault not_found */
  list(client: Client, request: ListRequest<ItemRef>, cursor: string | null): Promise<ItemPage>;
  /** Returns the content of an item. Unset: items of this kind only contain others. @throws Fault not_found */
  open?(client: Client, request: { readonly itemRef: ItemRef; readonly externalId: string }): Promise<ItemContent>;
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
  /** The functions of each kind, by the name of the kind that `parseItemId` returns. */
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
    const itemRef = parseItemId(id);
    const kind = itemRef === null ? undefined : kinds[itemRef.kind];
    if (kind === undefined) throw noSuchItem(name);
    return { itemRef: itemRef as never, kind };
  };
  return {
    async listDescendants(client, externalId, cursor, typeFilter) {
      const ids = idsIn(client.credentials);
      const inner = ids.inner(externalId);
      const typeSelection = createTypeSelection(typeFilter);
      const { itemRef, kind } = find(inner);
      return ids.page(
        typeSelection.withTypes(inner, await kind.list(client, { itemRef, typeSelection, externalId: inner }, cursor)),
      );
    },
    async open(client, externalId) {
      const { itemRef, kind } = find(idsIn(client.credentials).inner(externalId));
      if (kind.open) return kind.open(client, { itemRef, externalId });
      throw new Fault('unsupported_type', `This has no text of its own in ${name}: sync its contents.`);
    },
  };
}

/** Returns a page with one item, which is also the last page. */
export const pageOf = async (item: Promise<SourceItem>): Promise<ItemPage> => ({ items: [await item], next: null });
