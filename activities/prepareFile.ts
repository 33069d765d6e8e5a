import { createHash } from 'node:crypto';

import type { VectorSpace } from '../contract/embeddingModels.js';
import { LINKS_PER_PAGE } from '../contract/webScrape.js';
import type { ProcessedDocument } from '../documents/types.js';
import type { FinishedSync } from '../store/files/commands.js';
import type { StartedFile } from '../store/files/start.js';
import type { SmallContent } from '../store/contents/contents.js';
import type { FileDoc } from '../store/files/model.js';
import type { ActivityDeps, OpenedContent } from './deps.js';
import { contentStep } from './contentStep.js';
import { embedTexts } from './embedTexts.js';

/** A file whose content is fetched, read and embedded: all that is left is to write it down. */
export interface PreparedFile {
  readonly started: StartedFile;
  readonly finished: FinishedSync;
  /** To be written with the chunks; null when it is kept already. */
  readonly content: SmallContent | null;
  readonly document: ProcessedDocument | null;
  readonly space: VectorSpace | null;
  readonly vectors: readonly Float32Array[];
}

function metadataOf(opened: OpenedContent, document: ProcessedDocument | null): Record<string, unknown> {
  return { ...opened.facts, ...document?.metadata };
}

const chunkTexts = ({ prefix, text, cuts }: ProcessedDocument): string[] =>
  cuts.map(({ start, end }) => prefix + text.slice(start, end));

/** Raised whenever the same bytes would give other text, chunks or vectors than before. */
const PIPELINE_VERSION = 2;

/** Everything but the content that the outcome of a sync depends on, as a hash. */
function processingOf(file: FileDoc, space: VectorSpace | null): string {
  const { options, sourceOptions, tagPairs, parentId } = file;
  const prefix = options.prependFilenameToChunks ? file.name : null;
  const parts = [PIPELINE_VERSION, options, sourceOptions, tagPairs, parentId, prefix, space?.name ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Told what a page links to, before anything of the page is written. */
export type LinkKeeper = (found: { readonly urls: readonly string[]; readonly endedAt: string }) => Promise<void>;

/** Hands the page's links on; of a page that the site says is unchanged, those of the copy we keep. */
async function tellLinks(
  { file }: StartedFile,
  opened: OpenedContent | null,
  keep: LinkKeeper,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<void> {
  const finalUrl = file.fileMetadata['final_url'];
  const endedAt = opened?.url ?? (typeof finalUrl === 'string' ? finalUrl : file.externalFileId);
  const bytes = opened?.bytes ?? (await deps.store.contents.get({ ...file, fileId: file._id }));
  if (bytes === null) return;
  const contentType = opened ? opened.contentType : (file.statistics?.mimeType ?? null);
  const hosts = [...new Set([new URL(file.externalFileId).host, new URL(endedAt).host])];
  const { urls } = await contentStep('read', signal, deps, () =>
    deps.documents.links(
      { bytes, contentType, name: endedAt, baseUrl: endedAt, html: { tags: [], classes: [], selectors: [] } },
      { max: LINKS_PER_PAGE, follow: { hosts }, withText: false },
      signal,
    ),
  );
  await keep({ urls, endedAt });
}

/**
 * Fetch → read → chunk → embed, for one file. Raw and parsed content are kept on the way.
 * @param admit counts a text in before it is kept; throws a Fault where the user's limits leave no room for it
 * @param keepLinks given where the page is one of a crawl that wants its links
 * @returns null when the file already holds just what this would make: nothing is read, embedded or written then
 * @throws Fault when this content can't be had or read; anything else is a store's fault
 */
export async function prepareFile(
  runId: number,
  started: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
  admit: (characters: number) => Promise<void>,
  keepLinks: LinkKeeper | null = null,
): Promise<PreparedFile | null> {
  const { file, generation } = started;
  const { options, organizationId } = file;
  const tagsRevision = file.tagsRevision ?? null;
  const wantsVectors = !options.skipEmbeddingGeneration && !options.generateChunksOnly && !options.storeFileOnly;
  const space = wantsVectors ? deps.embeddings.spaceOf(options.embeddingModel) : null;
  const processedAs = processingOf(file, space);
  const comparable = file.generation > 0 && file.processedAs === processedAs;
  const opened = await contentStep('fetched', signal, deps, () =>
    deps.sources.open(
      {
        source: file.source,
        externalFileId: file.externalFileId,
        externalUrl: file.externalUrl,
        sourceOptions: file.sourceOptions,
        known: comparable ? { etag: file.etag, lastModified: file.lastModified } : null,
      },
      signal,
    ),
  );
  if (keepLinks) await tellLinks(started, opened, keepLinks, deps, signal);
  if (!opened) return null;
  const rawHash = createHash('sha256').update(opened.bytes).digest('hex');
  if (comparable && file.rawHash === rawHash) return null;
  const fileSize = opened.bytes.byteLength;
  const owner = { organizationId, userId: file.userId, fileId: file._id, generation };
  const small = await deps.store.contents.take(owner, opened.bytes);

  const content = {
    generation,
    numChunks: 0,
    vectorSpace: null,
    dimensions: null,
    hasContent: true,
    hasText: false,
    rawHash,
    processedAs,
    ...opened.validators,
  };
  const statistics = {
    fileFormat: opened.format,
    fileSize,
    numCharacters: null,
    numTokens: null,
    numEmbeddings: 0,
    mimeType: opened.mimeType,
  };
  if (options.storeFileOnly) {
    const finished = {
      runId,
      file,
      content: { ...content, statistics },
      name: null,
      fileMetadata: metadataOf(opened, null),
      tagsRevision,
    };
    return { started, finished, content: small, document: null, space: null, vectors: [] };
  }

  const prefix = options.prependFilenameToChunks ? (file.name ?? opened.url) : null;
  const document = await contentStep('read', signal, deps, () =>
    deps.documents.process(
      {
        bytes: opened.bytes,
        // A small content is still to be written.
        giveBytes: small === null,
        contentType: opened.contentType,
        name: opened.url,
        baseUrl: opened.url,
        html: opened.html,
      },
      { chunkSize: options.chunkSize, chunkOverlap: options.chunkOverlap, prefix },
      signal,
    ),
  );
  await admit(document.text.length);
  const vectors = space ? await embedTexts(organizationId, space, chunkTexts(document), deps, signal) : [];

  const finished: FinishedSync = {
    runId,
    file,
    name: null,
    fileMetadata: metadataOf(opened, document),
    tagsRevision,
    content: {
      ...content,
      hasText: true,
      numChunks: document.cuts.length,
      vectorSpace: space?.name ?? null,
      dimensions: space?.dimensions ?? null,
      statistics: {
        ...statistics,
        fileFormat: document.format,
        numCharacters: document.text.length,
        numTokens: document.numTokens,
        numEmbeddings: vectors.length,
        mimeType: document.mimeType,
      },
    },
  };
  return { started, finished, content: small, document, space, vectors };
}
