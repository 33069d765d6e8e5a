import type { SourceItem } from '../../../connectors/connector.js';
import { isConnectedSource } from '../../../contract/sources.js';
import type { DataSourceDoc } from '../../../store/dataSources/model.js';
import type { ApiDeps } from '../../deps.js';
import { type PageAnswer } from '../../http/operation.js';
import { callSource } from '../callSource.js';
import { accountOf } from '../dataSourceOf.js';
import { type Html, html } from './html.js';
import { page, pagePath } from './pages.js';

const ITEMS_PER_PAGE = 100;

interface Chooser {
  readonly source: DataSourceDoc;
  /** Of the page. */
  readonly name: string;
  readonly service: string;
  /** The external id of what is looked into; null: the outermost. */
  readonly folder: string | null;
  readonly number: number;
  /** Nothing was chosen. */
  readonly isEmpty?: boolean;
}

type Choice = Pick<SourceItem, 'externalId' | 'name' | 'itemType' | 'isSelectable' | 'isExpandable'>;

/** Items to choose from: those that were listed; where nothing was, the outermost that there are just now. */
async function choices(
  { source, service, folder, number }: Chooser,
  deps: ApiDeps,
): Promise<{ items: Choice[]; more: boolean }> {
  const listing = {
    filters: folder === null ? { rootsOnly: true } : { parentExternalId: folder },
    orderBy: 'directories_first',
    orderDir: 'asc',
    page: { limit: ITEMS_PER_PAGE + 1, offset: number * ITEMS_PER_PAGE, startingId: 0 },
  } as const;
  const listed: Choice[] = [];
  for await (const part of deps.store.items.list(source, listing)) listed.push(...part.map(({ item }) => item));
  if (listed.length > 0 || folder !== null || number > 0 || !isConnectedSource(source.type))
    return { items: listed.slice(0, ITEMS_PER_PAGE), more: listed.length > ITEMS_PER_PAGE };
  const account = accountOf({ ...source, type: source.type }, deps);
  const { items } = await callSource(service, (signal) => account.roots(null, signal));
  return { items: items.slice(0, ITEMS_PER_PAGE), more: false };
}

const address = (name: string, folder: string | null, number: number): string => {
  const query = new URLSearchParams({ ...(folder === null ? {} : { in: folder }), page: String(number) });
  return `${pagePath(name)}?${query.toString()}`;
};

/** The page at which a person chooses what is synced. */
export async function chooserPage(chooser: Chooser, deps: ApiDeps): Promise<PageAnswer> {
  const { name, service, folder, number, isEmpty = false } = chooser;
  const { items, more } = await choices(chooser, deps);
  const row = ({ externalId, name: called, isSelectable, isExpandable }: Choice): Html =>
    html`<li>
      ${
        isSelectable
          ? html`<label><input type="checkbox" name="ids" value="${externalId}" /> ${called}</label>`
          : html`<span>${called}</span>`
      }${isExpandable ? html`<a href="${address(name, externalId, 0)}">Open</a>` : html``}
    </li>`;
  const list =
    items.length === 0
      ? html`<p class="soft">There is nothing here.</p>`
      : html`<ul>
          ${items.map(row)}
        </ul>`;
  const ways = [
    ...(folder === null ? [] : [html`<a href="${address(name, null, 0)}">Back to the top</a> `]),
    ...(number > 0 ? [html`<a href="${address(name, folder, number - 1)}">Previous page</a> `] : []),
    ...(more ? [html`<a href="${address(name, folder, number + 1)}">Next page</a>`] : []),
  ];
  const note = isEmpty
    ? html`<p class="bad">Choose something first.</p>`
    : html`<p class="soft">A folder brings in everything in it.</p>`;
  const body = html`${note}
    <form method="post" action="${pagePath(name)}">
      ${list}
      <nav>${ways}</nav>
      <button name="action" value="choose">Sync what is chosen</button
      ><button class="quiet" name="action" value="cancel">Cancel</button>
    </form>`;
  return page(200, `Choose from ${service}`, 'plain', body);
}
