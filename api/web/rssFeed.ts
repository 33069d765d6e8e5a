import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/vectors/embeddingModels.js';
import { FEED_SOURCE, readFeedAddress, type SyncFeedRequest } from '../../contract/runs/feeds.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import { storedTags } from '../../contract/files/tags.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Session } from '../../store/database/sequence.js';
import type { ApiDeps } from '../http/deps.js';
import { invalid } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { address, orNull } from '../schemas/fields.js';
import { ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { named } from '../schemas/reference.js';
import { tags } from '../schemas/tags.js';
import { acceptParent, type NewParent } from './acceptParent.js';
import { embeddingModel, MODEL_OF_FILES } from '../schemas/enums.js';
import { success } from '../schemas/answers.js';

/** POST /integrations/rss_feed: accepts a feed; its record and its entries become files. */
export const rssFeed = operation({
  method: 'post',
  path: '/integrations/rss_feed',
  operationId: 'rss_feed_integrations_rss_feed_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Add a feed (RSS, Atom or JSON Feed)',
  description: [
    'Connects a feed: it becomes a data source, and each of its entries becomes a file. The text of the file is the full content of the entry, if the feed has it. Otherwise it is the text of the linked page, or the summary in the feed if that page cannot be read.\n\nThe event ADD reports the connection, FILES_CREATED and FILE_READY the entries, and ALL_FILES_PROCESSED the end. Adding a known feed reads it again and merges `data_source_tags`.\n\nAt most 5,000 entries and 10 MB are read; entries that leave the feed stay. The feed is read repeatedly if `RSS_FEED` is among `auto_sync_enabled_sources`.',
  ],
  returns: '`success: true`: the feed is stored as a data source, and a run reads its entries.',
  errors: { 404: null },
  createsWork: true,
  body: named(
    'RSSFeedInput',
    Joi.object({
      url: address().description(
        'Address of the feed; without a scheme, https is assumed. A login in it (`https://name:password@host/…`) is stored encrypted and sent to this origin only; adding the feed without a login deletes it.',
      ),
      tags: orNull(tags(), {}).description(
        'Tags of each entry, in addition to those of the feed. Searches can filter by them. Null: no tags.',
      ),
      ...ingestFields(),
      // The public contract does not allow null here, unlike in most other operations.
      embedding_model: embeddingModel().default(DEFAULT_EMBEDDING_MODEL).description(MODEL_OF_FILES),
      request_id: orNull(Joi.string().allow('').max(500)).description(
        'Your own id of the request, which files, runs and events repeat. At most 500 characters. Absent, null or empty: a random UUID.',
      ),
      data_source_tags: tags()
        .default({})
        .description(
          'Tags of the feed as a data source. Its files have them too. If the feed exists already, its tags with other keys stay.',
        ),
    }).description('A feed, and the options for its entries, each of which becomes a file.'),
  ),
  answer: success,
  async handle({ caller, body, deps: { store, unit } }) {
    const feed = readFeedAddress(body.url);
    if (feed === null) throw invalid(['body', 'url'], 'Give the http(s) address of a feed', 'url_type');
    const { url, login } = feed;
    const request: SyncFeedRequest = {
      url,
      tags: body.tags,
      ingest: toIngestOptions(body),
      scrape: {
        htmlTagsToSkip: [],
        cssClassesToSkip: [],
        cssSelectorsToSkip: [],
        downloadCssAndMedia: false,
        usePremiumProxies: false,
      },
    };
    const [runId, tagsRunId] = [await store.runs.nextId(), await store.runs.nextId()];
    const requestId = body.request_id || randomUUID();
    const needsCopy = await unit.transaction(async (session) => {
      const connection = {
        type: FEED_SOURCE,
        externalId: `${FEED_SOURCE}|${url}`,
        // Adding a feed without a login removes a stored one.
        credentials: login && JSON.stringify(login),
        metadata: { url },
        tags: storedTags(body.data_source_tags),
        enableAutoSync: null,
      } as const;
      const connected = await store.dataSources.connect(caller, connection, session);
      const { dataSource } = connected;
      const parent: NewParent = {
        runId,
        requestId,
        work: { kind: 'syncFeed', request },
        source: FEED_SOURCE,
        externalFileId: url,
        enableAutoSync: null,
        fileMetadata: { is_feed_url: true },
        dataSource,
      };
      await acceptParent(caller, parent, store, session);
      if (connected.needsCopy) await acceptTagRun(caller, { runId: tagsRunId, requestId, dataSource }, store, session);
      return connected.needsCopy;
    });
    unit.start(runId);
    if (needsCopy) unit.start(tagsRunId);
    return { success: true };
  },
});

/** Accepts a run that copies the new tags of a known feed to its files. */
async function acceptTagRun(
  owner: UserCaller,
  { runId, requestId, dataSource }: { runId: number; requestId: string; dataSource: DataSourceDoc },
  store: ApiDeps['store'],
  session: Session,
): Promise<void> {
  const workflowId = workflowIds.updateTags(dataSource._id);
  const run = { kind: 'updateTags', workflowId, owner, fileId: null, dataSourceId: dataSource._id } as const;
  await store.runs.accept(runId, { ...run, requestId }, session);
}
