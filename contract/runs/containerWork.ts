import type { IngestOptions } from '../files/ingestOptions.js';
import type { ContainerRunKind } from './runKinds.js';
import type { NewWork } from './runs.js';
import { tagObject } from '../files/tags.js';

/** Fields of a container's record that contain its request. */
export interface Container {
  readonly runKind: ContainerRunKind | null;
  readonly externalUrl: string | null;
  readonly externalFileId: string;
  readonly tags: Parameters<typeof tagObject>[0];
  readonly sourceOptions: unknown;
}

/**
 * Returns the work that reads a container's site or feed again, with the address, tags and options of its record.
 * The cast is safe: the kind of `sourceOptions` follows from the record's `runKind`, which the type does not express.
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
