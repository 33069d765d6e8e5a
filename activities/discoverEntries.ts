import { cancellationSignal, heartbeat } from '@temporalio/activity';

import { entryFileId, FEED_SOURCE, type FeedEntryOptions, type SyncFeedRequest } from '../contract/feeds.js';
import { LIMIT_FACT, NO_LIMIT_FACT } from '../contract/limits.js';
import type { RunInput } from '../contract/orchestration.js';
import type { DataSourceDoc } from '../store/dataSources/model.js';
import type { ActivityDeps } from './deps.js';
import { toFailure } from './failures.js';

const HEARTBEAT_MS = 2_000;

export function createFeedActivities({ store, sources, settings }: ActivityDeps) {
  return {
    /**
     * Reads the run's feed and queues a file for each entry. Entries that the feed no longer names stay as they are: a
     * feed is a window. Safe to repeat: files are matched by the entries' names.
     */
    async discoverEntries({ runId }: RunInput): Promise<{ discovered: number }> {
      const run = await store.runs.find(runId);
      if (!run || run.fileId === null) throw new Error(`Run ${runId} has no row, or no file`);
      const { fileId: parentId, requestId, workflowId, dataSourceId } = run;
      const { url, tags, ingest, scrape } = run.options as SyncFeedRequest;
      const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
      try {
        const feed = await sources.readFeed(url, cancellationSignal());
        const asked = feed.entries.slice(0, settings.maxPagesPerScrape);
        const entries = asked.slice(0, (await store.limits.of(run)).max_files_per_upload ?? asked.length);
        const queue = (dataSource: DataSourceDoc | null): Promise<number> =>
          store.files.acceptMany(
            run,
            entries.map((entry) => ({
              source: FEED_SOURCE,
              externalFileId: entryFileId(url, entry.id),
              externalUrl: entry.url,
              name: entry.title ?? entry.url ?? entry.id,
              sourceCreatedAt: entry.publishedAt === null ? null : new Date(entry.publishedAt),
              parentId,
              isContainer: false,
              ...(dataSource && { dataSource }),
              tags,
              options: ingest,
              sourceOptions: {
                ...scrape,
                feedUrl: url,
                entryId: entry.id,
                pageUrl: entry.url,
              } satisfies FeedEntryOptions,
              enableAutoSync: null,
              requestId,
              runId,
              workflowOf: () => workflowId,
            })),
          );
        const find = async () => (dataSourceId ? store.dataSources.find(run, dataSourceId) : null);
        let source = await find();
        let discovered = await queue(source);
        // A tag workflow may have passed before the files were there: then they are accepted with its tags.
        for (let now = await find(); now?.tagsVersion !== source?.tagsVersion; now = await find()) {
          source = now;
          discovered = await queue(now);
        }
        await store.files.moveContainer(runId, parentId, {
          status: 'SYNCING',
          discovered: true,
          facts: {
            pages_total: discovered,
            ...(feed.title === null ? {} : { title: feed.title }),
            ...(entries.length < asked.length ? LIMIT_FACT : NO_LIMIT_FACT),
          },
        });
        return { discovered };
      } catch (error) {
        throw toFailure(error);
      } finally {
        clearInterval(beat);
      }
    },
  };
}
