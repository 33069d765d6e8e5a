import type { Sources } from '../activities/deps.js';
import type { FeedSource, WebSource } from '../connectors/types.js';
import { FEED_SOURCE } from '../contract/runs/feeds.js';
import type { PageOptions } from '../contract/files/ingestOptions.js';
import { createFeedContents } from './feedContent.js';
import { openPage } from './pageContent.js';

/** Adapts the connectors to the interface that the activities use. */
export function createSources(web: WebSource, feedSource: FeedSource): Sources {
  const feeds = createFeedContents(feedSource, web);
  return {
    discover: (sitemapUrl, signal, onProblem, usePremiumProxies) =>
      web.discover(sitemapUrl, signal, onProblem, usePremiumProxies),
    mayFetch: (url, signal) => web.mayFetch(url, signal),
    download: (url, signal, take) => web.download(url, signal, take),
    readFeed: (request) => feeds.read(request),
    open: (ref, signal) =>
      ref.source === FEED_SOURCE
        ? feeds.open(ref, signal)
        : openPage(web, ref.externalFileId, ref.sourceOptions as PageOptions, ref.known, signal),
  };
}
