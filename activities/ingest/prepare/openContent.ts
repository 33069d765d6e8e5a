import { LINKS_PER_PAGE } from '../../../contract/runs/webScrape.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { StartedFile } from '../../../store/files/start.js';
import { isConnected, openItem } from '../../connected/openItem.js';
import { fileCredentials } from '../../connected/sourceCredentials.js';
import type { ActivityDeps, OpenedContent } from '../../deps.js';
import { contentStep } from './contentStep.js';
import type { SaveLinks } from './preparedFile.js';

/**
 * Fetches a file's content from its source.
 * @param hasSameProcessing whether this sync would process the stored copy as the last sync did. Only then the request
 * is conditional, and the source may answer that the copy is current
 * @returns null if the stored copy is current
 * @throws Fault
 */
export const openContent = (
  file: FileDoc,
  hasSameProcessing: boolean,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<OpenedContent | null> =>
  contentStep('fetched', signal, deps, () =>
    isConnected(file)
      ? openItem(file, deps, signal)
      : deps.sources.open(
          {
            source: file.source,
            externalFileId: file.externalFileId,
            externalUrl: file.externalUrl,
            sourceOptions: file.sourceOptions,
            known: hasSameProcessing ? { etag: file.etag, lastModified: file.lastModified } : null,
            credentials: () => fileCredentials(file, deps),
          },
          signal,
        ),
  );

/** Passes the links of a page to `saveLinks`. For an unchanged page, reads them from the stored copy. */
export async function passLinks(
  { file }: StartedFile,
  opened: OpenedContent | null,
  saveLinks: SaveLinks,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<void> {
  const storedUrl = file.fileMetadata['final_url'];
  const finalUrl = opened?.url ?? (typeof storedUrl === 'string' ? storedUrl : file.externalFileId);
  const bytes = opened?.bytes ?? (await deps.store.contents.get({ ...file, fileId: file._id }));
  if (bytes === null) return;
  const contentType = opened ? opened.contentType : (file.statistics?.mimeType ?? null);
  const hosts = [...new Set([new URL(file.externalFileId).host, new URL(finalUrl).host])];
  const { urls } = await contentStep('read', signal, deps, () =>
    deps.documents.links(
      { bytes, contentType, name: finalUrl, baseUrl: finalUrl, html: { tags: [], classes: [], selectors: [] } },
      { max: LINKS_PER_PAGE, follow: { hosts }, withText: false },
      signal,
    ),
  );
  await saveLinks({ urls, finalUrl });
}
