import Joi from 'joi';

import { CONNECTED_SOURCES, isConnectedSource } from '../../../contract/sources/connectedSources.js';
import type { AttemptDoc } from '../../../store/models/connections.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ApiDeps } from '../../http/deps.js';
import { HttpError } from '../../http/errors.js';
import { undocumented, type PageAnswer } from '../../http/operation.js';
import { chooserPage } from './chooser.js';
import { continueConnection } from './continueConnection.js';
import { html } from '../../http/answers/html.js';
import { CONNECTION_PATH, donePage, failedPage, page, pagePath, unknownPage } from './pages.js';
import type { Infer } from '../../schemas/inferred.js';

/** The connection that a page continues. */
interface Opened {
  readonly attempt: AttemptDoc;
  readonly source: DataSourceDoc;
  readonly name: string;
  readonly service: string;
}

async function readPage(name: string, { store }: ApiDeps): Promise<Opened | PageAnswer> {
  const attempt = await store.attempts.findByPage(name);
  const source = attempt?.dataSourceId ? await store.dataSources.find(attempt, attempt.dataSourceId) : null;
  if (!attempt || !source || !isConnectedSource(source.type)) return unknownPage();
  const service = CONNECTED_SOURCES[source.type].name;
  if (source.revokedAccess)
    return failedPage(`${service} is no longer connected`, 'Access to this account was revoked.', 409);
  return { attempt, source, name, service };
}

const MAX_ID = 2_048;
/** Maximum number of items per selection. */
const MAX_CHOSEN = 1_000;
/** Maximum number of items in a form, which is more than a full selection and the items of a page. */
const MAX_IDS = 2_000;

/** Returns why a selection cannot be synced, as a sentence for the user; null if it can. */
function problemOf(ids: readonly string[]): string | null {
  if (ids.length === 0) return 'Select at least one item.';
  if (ids.length <= MAX_CHOSEN) return null;
  return `${ids.length} items are selected, but at most 1,000 can be synced at once. Deselect some, or select their folder.`;
}

/** Returns a page for an error of the source, because a browser shows the answer. */
async function shown(service: string, pageOf: () => Promise<PageAnswer>): Promise<PageAnswer> {
  try {
    return await pageOf();
  } catch (error) {
    if (!(error instanceof HttpError) || typeof error.detail !== 'string') throw error;
    const next = html`<p>${service} stays connected. Reload this page to try again.</p>`;
    return failedPage(`The items of ${service} cannot be shown`, error.detail, error.status, next);
  }
}

/** Returns the schema of the query, which names the folder that the page shows. */
const folderQuery = () =>
  Joi.object({ in: Joi.string().allow('').max(MAX_ID), page: Joi.number().integer().min(0).max(100_000) });
const folderIn = ({ in: folder = '', page: number = 0 }: Infer<ReturnType<typeof folderQuery>>) => ({
  folder: folder === '' ? null : folder,
  number,
});

/** GET /connections/…: continues with a connected account: a selection of its items, or a button that syncs. */
export const connectionPage = undocumented({
  method: 'get',
  path: CONNECTION_PATH,
  auth: 'open',
  summary: 'The page on which a user continues with a connected account.',
  query: folderQuery(),
  answer: Joi.any(),
  async handle({ params, query, deps }) {
    const found = await readPage(params['name'] ?? '', deps);
    if (!('attempt' in found)) return found;
    const { attempt, source, name, service } = found;
    if (attempt.actions.offersChooser)
      return shown(service, () => chooserPage({ source, name, service, ...folderIn(query) }, deps));
    const paragraph = html`<p>The account is connected. Sync it again to get new content.</p>`;
    const form = html`<form method="post" action="${pagePath(name)}">
      <button name="action" value="sync">Sync now</button
      ><button class="quiet" name="action" value="cancel">Cancel</button>
    </form>`;
    return page(200, `${service} is connected`, 'good', html`${paragraph}${form}`);
  },
});

/** POST /connections/…: processes the user's decision. */
export const decideOnConnection = undocumented({
  method: 'post',
  path: CONNECTION_PATH,
  auth: 'open',
  takesForm: true,
  query: folderQuery(),
  summary: 'Processes the decision of a user on the page of a connected account.',
  body: Joi.object({
    action: Joi.string().valid('look', 'choose', 'sync', 'cancel').required(),
    ids: Joi.array().items(Joi.string().max(MAX_ID)).max(MAX_IDS).single().default([]),
  }),
  answer: Joi.any(),
  async handle({ params, query, body, deps }) {
    const found = await readPage(params['name'] ?? '', deps);
    if (!('attempt' in found)) return found;
    const { attempt, source, name, service } = found;
    if (body.action === 'cancel') {
      await deps.unit.transaction((session) =>
        deps.store.dataSources.recordCancellation(attempt, source._id, null, session),
      );
      return donePage('Nothing was changed', `${service} stays connected without changes.`);
    }
    const problem = body.action === 'look' && body.ids.length <= MAX_CHOSEN ? null : problemOf(body.ids);
    if (attempt.actions.offersChooser && (body.action === 'look' || problem !== null)) {
      const chooser = { source, name, service, ...folderIn(query), chosen: body.ids, problem };
      return shown(service, () => chooserPage(chooser, deps));
    }
    await continueConnection(attempt, source, attempt.actions.offersChooser ? body.ids : null, deps);
    return donePage('Your selection is being synced', 'The application can search it in a moment.');
  },
});
