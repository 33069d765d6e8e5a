import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { FEED_SOURCE, type SyncFeedRequest } from '../../contract/feeds.js';
import type { TagValue } from '../../contract/records.js';
import { pageUrl } from '../../contract/urls.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { address, orNull } from '../schemas/fields.js';
import { type IngestBody, ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { tags } from '../schemas/tags.js';
import { acceptParent } from './acceptParent.js';

interface Body extends IngestBody {
  url: string;
  tags: Record<string, TagValue>;
  data_source_tags: Record<string, TagValue>;
  request_id?: string;
}

/** POST /integrations/rss_feed: accepts a feed; its record and its entries become files. */
export const rssFeed = operation<'user', Body>({
  method: 'post',
  path: '/integrations/rss_feed',
  auth: 'user',
  summary: 'Adds a feed (RSS, Atom or JSON Feed); each entry becomes a file.',
  createsWork: true,
  body: Joi.object({
    url: address(),
    tags: orNull(tags(), {}),
    ...ingestFields(),
    request_id: orNull(Joi.string().allow('').max(500)),
    data_source_tags: tags().default({}),
  }),
  answer: Joi.object({ success: Joi.boolean().required() }),
  async handle({ caller, body, deps: { store, dispatcher } }) {
    const url = pageUrl(body.url);
    if (url === null)
      throw invalid(['body', 'url'], 'Give the http(s) address of a feed, without credentials', 'url_type');
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
    const runId = await store.runs.nextId();
    await store.transaction((session) =>
      acceptParent(
        caller,
        {
          runId,
          requestId: body.request_id || randomUUID(),
          kind: 'syncFeed',
          source: FEED_SOURCE,
          externalFileId: url,
          request,
          enableAutoSync: null,
          facts: { is_feed_url: true },
        },
        store,
        session,
      ),
    );
    // Not awaited: the row is the promise. Temporal may be away; the sweeper starts what is left.
    void dispatcher.start(runId);
    return { success: true };
  },
});
