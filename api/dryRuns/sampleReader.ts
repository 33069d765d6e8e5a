import { LINKS_PER_PAGE } from '../../contract/runs/webScrape.js';
import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { DocumentPool, ParseInput } from '../../documents/types.js';
import type { PageReader, Sample, SampleReader } from '../http/deps.js';

const NO_SKIPS = { tags: [], classes: [], selectors: [] };

/** Parses one content and splits it into chunks, without OCR, transcription or attachments. */
async function sampleOf(
  documents: Pick<DocumentPool, 'process'>,
  input: ParseInput,
  /** Name of the file, as on its record. */
  fileName: string,
  ingest: IngestOptions,
  signal: AbortSignal,
): Promise<Sample> {
  const bytes = input.bytes.byteLength;
  if (ingest.storeFileOnly || ingest.skipFileProcessing) return { bytes, tokens: 0, texts: [] };
  const { chunkSize, chunkOverlap, setPageAsBoundary, maxItemsPerChunk, splitRows = false } = ingest;
  const prefix = ingest.prependFilenameToChunks && fileName !== '' ? fileName : null;
  const chunking = { chunkSize, chunkOverlap, prefix, setPageAsBoundary, maxItemsPerChunk, splitRows };
  const { text, cuts, ...document } = await documents.process(input, chunking, signal);
  try {
    return {
      bytes,
      tokens: cuts.reduce((sum, { tokens }) => sum + tokens, 0),
      texts: cuts.map(({ start, end }) => document.prefix + text.slice(start, end)),
    };
  } finally {
    if (typeof text !== 'string') text.close();
  }
}

/**
 * Creates a reader of pages and items for dry runs. It reads them as a run does, but without a browser, and stores
 * nothing.
 */
export function createSampleReader(web: PageReader, documents: Pick<DocumentPool, 'links' | 'process'>): SampleReader {
  return {
    async page(url, { usePremiumProxies, ...options }, ingest, hosts, signal) {
      const page = await web.fetchPage({ url, downloadCssAndMedia: false, usePremiumProxies, known: null, signal });
      // fetchPage() returns null only for a known version of the page, and none is passed here.
      if (page === null) return { bytes: 0, tokens: 0, texts: [], links: [], finalUrl: url };
      const { bytes, contentType, finalUrl } = page;
      const { htmlTagsToSkip: tags, cssClassesToSkip: classes, cssSelectorsToSkip: selectors } = options;
      const input = { bytes, contentType, name: finalUrl, baseUrl: finalUrl };
      const follow = hosts && { hosts: [...new Set([...hosts, new URL(finalUrl).host])] };
      const wanted = { max: LINKS_PER_PAGE, follow, withText: false };
      const links = follow ? (await documents.links({ ...input, html: NO_SKIPS }, wanted, signal)).urls : [];
      const html = { tags, classes, selectors };
      return { ...(await sampleOf(documents, { ...input, html }, url, ingest, signal)), links, finalUrl };
    },
    async item(account, { externalId, name }, ingest, signal) {
      const { plain, ...content } = await account.open(externalId, signal);
      const { bytes, contentType } = { ...content, ...(ingest.parsedTextFormat === 'MARKDOWN' ? {} : plain) };
      const { url } = content;
      const input = { bytes, contentType, name: url, baseUrl: url, html: NO_SKIPS };
      return sampleOf(documents, input, content.name ?? name, ingest, signal);
    },
  };
}
