import { createHash } from 'node:crypto';
import { cancellationSignal, heartbeat } from '@temporalio/activity';

import { entryFileId, FEED_SOURCE, type FeedEntryOptions, type SyncFeedRequest } from '../contract/feeds.js';
import { LIMIT_FACT, NO_LIMIT_FACT } from '../contract/limits.js';
import type { RunInput } from '../contract/orchestration.js';
import type { DataSourceDoc } from '../store/dataSources/model.js';
import type { Validators } from '../connectors/types.js';
import type { Tenant } from '../store/users/accept.js';
import type { ActivityDeps } from './deps.js';
import { PIPELINE_VERSION } from './prepareFile.js';
import { toFailure } from './failures.js';

const HEARTBEAT_MS = 2_000;

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

export function createFeedActivities({ store, sources, settings }: ActivityDeps) {
  /** By what the feed's server knows the last reading, if the same would bring nothing: the same is asked for, and all of it is there. */
  const knownReading = async (tenant: Tenant, feedId: number, asked: string): Promise<Validators | null> => {
    const [feed] = await store.files.byIds(tenant, [feedId]);
    const reading = feed?.feedReading;
    if (!reading || reading.asked !== asked) return null;
    return (await store.files.countRun(reading.runId)).ready === reading.entries ? reading : null;
  };

  return {
    /**
     * Reads the run's feed and queues a file for each entry. Entries that the feed no longer names stay as they are: a
     * feed is a window. Safe to repeat: files are matched by the entries' names.
     */
    async discoverEntries({ runId }: RunInput): Promise<{ discovered: number }> {
      const run = await store.runs.find(runId);
      if (!run || run.fileId === null) throw new Error(`Run ${runId} has no row, or no file`);
      const { fileId: parentId, requestId, workflowId, dataSourceId } = run;
      const request = run.options as SyncFeedRequest;
      const { url, tags, ingest, scrape } = request;
      const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
      try {
        const find = async () => (dataSourceId ? store.dataSources.find(run, dataSourceId) : null);
        let source = await find();
        const { max_files_per_upload: perUpload } = await store.limits.of(run);
        const most = settings.maxPagesPerScrape;
        const asked = hashOf([PIPELINE_VERSION, url, tags, ingest, scrape, source?.tagsVersion, perUpload, most]);
        const feed = await sources.readFeed(url, cancellationSignal(), await knownReading(run, parentId, asked));
        if (feed === null) {
          await store.runs.setOptions(runId, { ...request, found: { unchanged: true } } satisfies SyncFeedRequest);
          await store.files.moveContainer(runId, parentId, { status: 'SYNCING', discovered: true });
          return { discovered: 0 };
        }
        const reading = { ...feed.validators, asked, runId, entries: 0 };
        await store.runs.setOptions(runId, { ...request, found: { reading } } satisfies SyncFeedRequest);
        const named = feed.entries.slice(0, most);
        const entries = named.slice(0, perUpload ?? named.length);
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
        let discovered = await queue(source);
        // A tag workflow may have passed before the files were there: then they are accepted with its tags.
        for (let now = await find(); now?.tagsVersion !== source?.tagsVersion; now = await find()) {
          source = now;
          discovered = await queue(now);
        }
        await store.files.moveContainer(runId, parentId, {
          status: 'SYNCING',
          discovered: true,
          // Until the end of this run tells that all is there.
          feedReading: null,
          facts: {
            pages_total: discovered,
            ...(feed.title === null ? {} : { title: feed.title }),
            ...(entries.length < named.length ? LIMIT_FACT : NO_LIMIT_FACT),
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
