import { createHash } from 'node:crypto';
import { cancellationSignal } from '@temporalio/activity';

import { entryFileId, FEED_SOURCE, type FeedEntryOptions } from '../../contract/runs/feeds.js';
import { Fault } from '../../contract/failures.js';
import { LIMIT_METADATA, NO_LIMIT_METADATA } from '../../contract/limits.js';
import type { RunInput } from '../../contract/runs/orchestration.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Validators } from '../../connectors/types.js';
import type { FileDoc } from '../../store/models/files.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { PIPELINE_VERSION } from '../ingest/prepare/processing.js';
import { credentialsOf } from '../connected/sourceCredentials.js';

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Changes of file_metadata: set the field for a feed whose server answered 410, or remove it. */
const GONE = { feed_gone: true };
const NOT_GONE = { feed_gone: null };
/** Whether the server reported the feed as permanently gone. Then only a new request reads it again. */
export const isGone = ({ fileMetadata }: Pick<FileDoc, 'fileMetadata'>): boolean => fileMetadata['feed_gone'] === true;

/** Result for a feed that was deleted in the meantime. */
const NOTHING_DISCOVERED = { discovered: 0 };

/** Creates the activity that reads a feed. */
export function createFeedActivities({ store, sources, settings }: ActivityDeps) {
  /**
   * Returns the validators of the last reading if the request is unchanged and all entries of the reading are READY.
   */
  const knownReading = async ({ feedReading: reading }: FileDoc, fingerprint: string): Promise<Validators | null> => {
    if (!reading || reading.fingerprint !== fingerprint) return null;
    return (await store.files.countRun(reading.runId)).ready === reading.entries ? reading : null;
  };

  return {
    /**
     * Reads the run's feed and queues a file for each entry. Files of entries that are no longer in the feed stay,
     * because a feed contains only recent entries. Safe to repeat: files are matched by the entries' ids.
     */
    async discoverEntries({ runId }: RunInput): Promise<{ discovered: number }> {
      const run = runOfKind(await requireRun(store, runId, 'fileId'), 'syncFeed');
      const { fileId: parentId, requestId, workflowId, dataSourceId } = run;
      const findParent = async () => (await store.files.byIds(run, [parentId])).at(0);
      const parent = await findParent();
      if (!parent) return NOTHING_DISCOVERED;
      const { request } = run;
      const { tags, ingest, scrape } = request;
      // The id stays the same if the feed moves to another URL, so its entries keep their files.
      const feedId = parent.externalFileId;
      try {
        const findSource = async () => (dataSourceId ? store.dataSources.find(run, dataSourceId) : null);
        let source = await findSource();
        const { max_files_per_upload: perUpload } = await store.limits.get(run);
        const maxEntries = settings.maxPagesPerScrape;
        const fingerprint = hashOf([
          PIPELINE_VERSION,
          feedId,
          tags,
          ingest,
          scrape,
          source?.tagsVersion,
          perUpload,
          maxEntries,
        ]);
        const { feed, movedTo } = await sources.readFeed({
          url: request.url,
          credentials: source && credentialsOf(source, { store }),
          known: await knownReading(parent, fingerprint),
          signal: cancellationSignal(),
        });
        if (!(await findParent())) return NOTHING_DISCOVERED;
        const url = movedTo ?? request.url;
        if (movedTo !== null && dataSourceId) await store.dataSources.mergeMetadata(run, dataSourceId, { url });
        const change = {
          status: 'SYNCING',
          discovered: true,
          isScheduled: run.parentRunId !== undefined,
          ...(movedTo === null ? {} : { externalUrl: movedTo }),
        } as const;
        if (feed === null) {
          await store.runs.saveProgress(run, { found: { unchanged: true } });
          await store.files.moveContainer(runId, parentId, { ...change, metadata: NOT_GONE });
          return { discovered: 0 };
        }
        const reading = { ...feed.validators, fingerprint, runId, entries: 0 };
        await store.runs.saveProgress(run, { found: { reading } });
        const allowedEntries = feed.entries.slice(0, maxEntries);
        const entries = allowedEntries.slice(0, perUpload ?? allowedEntries.length);
        const queue = (dataSource: DataSourceDoc | null): Promise<number> =>
          store.files.acceptMany(
            run,
            entries.map((entry) => ({
              source: FEED_SOURCE,
              externalFileId: entryFileId(feedId, entry.id),
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
              isScheduled: run.parentRunId !== undefined,
              requestId,
              runId,
              workflowOf: () => workflowId,
            })),
          );
        let discovered = await queue(source);
        // The tags may have changed before the files existed: then accept the files with the new tags.
        for (
          let currentSource = await findSource();
          currentSource?.tagsVersion !== source?.tagsVersion;
          currentSource = await findSource()
        ) {
          source = currentSource;
          discovered = await queue(currentSource);
        }
        await store.files.moveContainer(runId, parentId, {
          ...change,
          // The run stores the reading only at its end, when all entries are ingested.
          feedReading: null,
          metadata: {
            ...NOT_GONE,
            pages_total: discovered,
            ...(feed.title === null ? {} : { title: feed.title }),
            ...(entries.length < allowedEntries.length ? LIMIT_METADATA : NO_LIMIT_METADATA),
          },
        });
        return { discovered };
      } catch (error) {
        if (error instanceof Fault && error.kind === 'gone')
          await store.files.moveContainer(runId, parentId, { status: 'SYNCING', metadata: GONE });
        throw error;
      }
    },
  };
}
