/** Builds the record of a prepared file, to be written once its chunks are stored. */
import type { ProcessedDocument } from '../../../documents/types.js';
import type { FinishedSync } from '../../../store/files/finish.js';
import type { StartedFile } from '../../../store/files/start.js';
import { isConnected } from '../../connected/openItem.js';
import type { OpenedContent } from '../../deps.js';
import { type AttemptCost, costOf } from './attemptCost.js';
import type { Processing } from './processing.js';

/** Properties of fetched content that are known before it is parsed. */
interface FetchedContent {
  readonly runId: number;
  readonly started: StartedFile;
  readonly opened: OpenedContent;
  /** SHA-256, hex. */
  readonly rawHash: string;
  readonly processedAs: string;
  readonly attempt: AttemptCost;
  /** Whether the content was uploaded, as bytes or by a URL. Uploaded content is not stored per generation. */
  readonly isUpload: boolean;
}

function contentOf({ started: { file, generation }, opened, rawHash, processedAs, isUpload }: FetchedContent) {
  return {
    generation,
    numChunks: 0,
    vectorSpace: null,
    dimensions: null,
    hasContent: !isUpload,
    hasText: false,
    rawHash,
    processedAs,
    ...opened.validators,
    // The version from the listing. It is older than the fetched content, so a change after the listing is fetched
    // again.
    version: isConnected(file) ? (file.listedVersion ?? null) : null,
  };
}

const statisticsOf = ({ opened, attempt }: FetchedContent) => ({
  fileFormat: opened.recordedFormat ?? opened.format,
  fileSize: attempt.bytes,
  numCharacters: null,
  numTokens: null,
  numEmbeddings: 0,
  mimeType: opened.mimeType,
});

/** Returns the record of a file that is stored without being read. */
export function finishedUnread(fetched: FetchedContent): FinishedSync {
  const { runId, opened, attempt } = fetched;
  const { file } = fetched.started;
  return {
    runId,
    file,
    content: { ...contentOf(fetched), statistics: statisticsOf(fetched) },
    name: opened.name ?? null,
    fileMetadata: { ...opened.fileMetadata },
    tagsRevision: file.tagsRevision ?? null,
    cost: costOf(attempt),
  };
}

/** Returns the record of a file that was read. @param result `contained`: fields of file_metadata about attachments */
export function finishedRead(
  fetched: FetchedContent,
  result: {
    readonly document: ProcessedDocument;
    readonly processing: Processing;
    readonly numEmbeddings: number;
    readonly contained: Readonly<Record<string, unknown>>;
  },
): FinishedSync {
  const { opened } = fetched;
  const { document, processing, numEmbeddings, contained } = result;
  const { space, asPicture, model } = processing;
  const unread = finishedUnread(fetched);
  return {
    ...unread,
    model,
    fileMetadata: {
      ...opened.fileMetadata,
      ...document.metadata,
      ...contained,
      ...(document.warnings ? { warnings: document.warnings } : {}),
    },
    ...(document.warnings?.[0] ? { warning: document.warnings[0].cause } : {}),
    ...(document.sourceCreatedAt === undefined ? {} : { sourceCreatedAt: new Date(document.sourceCreatedAt) }),
    content: {
      ...unread.content,
      hasText: asPicture === null,
      numChunks: document.cuts.length,
      vectorSpace: space?.name ?? null,
      dimensions: space?.dimensions ?? null,
      statistics: {
        ...statisticsOf(fetched),
        fileFormat: opened.recordedFormat ?? document.format,
        numCharacters: document.text.length,
        numTokens: document.numTokens,
        numEmbeddings,
        mimeType: document.mimeType,
      },
    },
  };
}
