import type { IngestOptions } from './ingestOptions.js';
import type { ContainerRunKind } from './orchestration.js';
import type { NewWork } from './runs.js';
import { tagObject } from './tags.js';

/** The fields of a container's record that say how it was asked for. */
export interface Container {
  readonly runKind: ContainerRunKind | null;
  readonly externalUrl: string | null;
  readonly externalFileId: string;
  readonly tags: Parameters<typeof tagObject>[0];
  readonly sourceOptions: unknown;
}

/**
 * Returns the work that reads a container's site or feed again, as it was first asked for.
 * The cast: `sourceOptions` are those of the record's `runKind`, which its type does not say.
 */
export const containerWork = (container: Container, ingest: IngestOptions): NewWork<ContainerRunKind> =>
  ({
    kind: container.runKind ?? 'scrapeSitemap',
    request: {
      url: container.externalUrl ?? container.externalFileId,
      tags: tagObject(container.tags),
      ingest,
      scrape: container.sourceOptions,
    },
  }) as NewWork<ContainerRunKind>;
