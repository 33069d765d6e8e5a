import type { SourceItem } from '../../../connectors/sourceItem.js';
import type { ItemFilters } from '../../../contract/files/items.js';
import { isConnectedSource } from '../../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ItemDoc } from '../../../store/models/items.js';
import type { ApiDeps } from '../../http/deps.js';
import { type PageAnswer } from '../../http/operation.js';
import { callSource } from '../callSource.js';
import { accountOf } from '../dataSourceOf.js';
import { type Html, html } from '../../http/answers/html.js';
import { page, pagePath } from './pages.js';

const ITEMS_PER_PAGE = 100;

interface Chooser {
  readonly source: DataSourceDoc;
  /** The secret in the page's URL. */
  readonly name: string;
  readonly service: string;
  /** External id of the open folder; null: the root. */
  readonly folder: string | null;
  readonly number: number;
  /** External ids of the items selected so far, in all folders. */
  readonly chosen?: readonly string[];
  /** Sentence about an invalid selection. */
  readonly problem?: string | null;
}

type Choice = Pick<SourceItem, 'externalId' | 'name' | 'isSelectable' | 'isExpandable'>;

interface Choices {
  readonly items: readonly Choice[];
  readonly more: boolean;
  /** Parent folder; null at the root. */
  readonly folder: { readonly name: string; readonly above: string | null } | null;
}

/** Returns the listed items to choose from; before the first listing, the root items as the source lists them now. */
async function choices({ source, service, folder, number }: Chooser, deps: ApiDeps): Promise<Choices> {
  const listed = async (filters: ItemFilters, limit: number, offset: number): Promise<ItemDoc[]> => {
    const range = { limit, offset, startingId: 0 };
    const found: ItemDoc[] = [];
    for await (const part of deps.store.items.list(source, {
      ...{ filters, page: range, orderBy: 'directories_first', orderDir: 'asc' },
    }))
      found.push(...part.map(({ item }) => item));
    return found;
  };
  const location = folder === null ? { rootsOnly: true } : { parentExternalId: folder };
  const [shownChildren, [openFolder]] = await Promise.all([
    listed(location, ITEMS_PER_PAGE + 1, number * ITEMS_PER_PAGE),
    folder === null ? [] : listed({ externalIds: [folder] }, 1, 0),
  ]);
  if (shownChildren.length > 0 || folder !== null || number > 0 || !isConnectedSource(source.type))
    return {
      items: shownChildren.slice(0, ITEMS_PER_PAGE),
      more: shownChildren.length > ITEMS_PER_PAGE,
      folder: openFolder ? { name: openFolder.name, above: openFolder.parentExternalId } : null,
    };
  const account = accountOf({ ...source, type: source.type }, deps);
  const { items } = await callSource(service, (signal) => account.listRoots(null, signal));
  // Children are shown only from a listing. While one is in progress, every item can be opened, because whether it has
  // children is not known yet.
  const shownItems = items.slice(0, ITEMS_PER_PAGE).map((item) => ({ ...item, isExpandable: isBeingListed(source) }));
  return { items: shownItems, more: false, folder: null };
}

const isBeingListed = ({ syncStatus }: DataSourceDoc): boolean =>
  syncStatus === 'QUEUED_FOR_SYNCING' || syncStatus === 'SYNCING';

/** Returns a button that opens another folder and keeps the selection. */
function folderButton(name: string, folder: string | null, number: number, label: string, itemName = ''): Html {
  const query = new URLSearchParams({ ...(folder === null ? {} : { in: folder }), page: String(number) });
  return html`<button
    class="link"
    name="action"
    value="look"
    formaction="${pagePath(name)}?${query.toString()}"
    aria-label="${label}${itemName}"
  >
    ${label}
  </button>`;
}

/** Renders the page on which a user selects the items to sync. */
export async function chooserPage(chooser: Chooser, deps: ApiDeps): Promise<PageAnswer> {
  const { source, name, service, folder, number, chosen = [], problem = null } = chooser;
  const { items, more, folder: openFolder } = await choices(chooser, deps);
  const checkedIds = new Set(chosen);
  const box = ({ externalId, name: called }: Choice): Html =>
    html`<label
      ><input type="checkbox" name="ids" value="${externalId}" ${checkedIds.has(externalId) ? 'checked' : ''} />
      <span>${called}</span></label
    >`;
  const row = (item: Choice): Html =>
    html`<li>
      ${item.isSelectable ? box(item) : html`<span>${item.name}</span>`}
      ${item.isExpandable ? folderButton(name, item.externalId, 0, 'Open', ` ${item.name}`) : html``}
    </li>`;
  const shown = new Set(items.filter(({ isSelectable }) => isSelectable).map(({ externalId }) => externalId));
  const checkedElsewhere = [...checkedIds].filter((id) => !shown.has(id));
  const noItemsText = isBeingListed(source)
    ? html`<p>This account is still being listed. ${folderButton(name, folder, number, 'Reload')}</p>`
    : html`<p class="soft">This folder is empty.</p>`;
  const list =
    items.length === 0
      ? noItemsText
      : html`<ul>
          ${items.map(row)}
        </ul>`;
  const links = [
    ...(folder === null ? [] : [folderButton(name, null, 0, 'Back to the top')]),
    ...(openFolder?.above ? [folderButton(name, openFolder.above, 0, 'One folder up')] : []),
    ...(number > 0 ? [folderButton(name, folder, number - 1, 'Previous page')] : []),
    ...(more ? [folderButton(name, folder, number + 1, 'Next page')] : []),
  ];
  const body = html`${problem === null ? html`` : html`<p class="bad">${problem}</p>`}
    <p class="soft">Select the items to sync. A folder includes everything in it.</p>
    <form method="post" action="${pagePath(name)}">
      ${openFolder ? html`<p>In <strong>${openFolder.name}</strong></p>` : html``} ${list}
      ${checkedElsewhere.length > 0 ? html`<p class="soft">Selected in other folders: ${checkedElsewhere.length}</p>` : html``}
      ${checkedElsewhere.map((id) => html`<input type="hidden" name="ids" value="${id}" />`)}
      <nav>${links}</nav>
      <button name="action" value="choose">Sync the selected items</button
      ><button class="quiet" name="action" value="cancel">Cancel</button>
    </form>`;
  return page(200, `Choose from ${service}`, 'plain', body);
}
