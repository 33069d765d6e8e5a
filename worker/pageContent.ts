import type { ContentRef, OpenedContent } from '../activities/deps.js';
import type { WebSource } from '../connectors/types.js';
import type { PageOptions } from '../contract/files/ingestOptions.js';
import { skipsOf } from '../contract/runs/scrapeSitemap.js';

/** Values of `file_format` by media type; all other pages are HTML. */
const FORMATS: Readonly<Record<string, string>> = { 'text/plain': 'TXT', 'text/markdown': 'MD' };

/** Returns the content of a web page; null when the stored copy is still current. */
export async function openPage(
  web: Pick<WebSource, 'fetchPage'>,
  url: string,
  options: PageOptions,
  known: ContentRef['known'],
  signal: AbortSignal,
): Promise<OpenedContent | null> {
  const page = await web.fetchPage({
    url,
    downloadCssAndMedia: options.downloadCssAndMedia,
    usePremiumProxies: options.usePremiumProxies,
    known,
    signal,
  });
  if (!page) return null;
  const mimeType = page.contentType?.split(';')[0]?.trim().toLowerCase() ?? 'text/html';
  return {
    bytes: page.bytes,
    contentType: page.contentType,
    format: FORMATS[mimeType] ?? 'HTML',
    mimeType,
    url: page.finalUrl,
    html: skipsOf(options),
    validators: { etag: page.etag, lastModified: page.lastModified },
    fileMetadata: {
      fetched_with: page.fetchedWith,
      ...(page.finalUrl === url ? {} : { final_url: page.finalUrl }),
      ...(page.lastModified === null ? {} : { last_modified: page.lastModified }),
    },
  };
}
