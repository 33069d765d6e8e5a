/** Schemas of enums that several operations use. */
import Joi from 'joi';

import { EMBEDDING_MODEL_IDS } from '../../contract/vectors/embeddingModels.js';
import { ORDER_DIRECTIONS } from '../../contract/files/fileFilters.js';
import { PARSED_TEXT_FORMATS } from '../../contract/files/ingestOptions.js';
import { MEDIA_TYPES } from '../../contract/files/mediaTypes.js';
import { OCR_LANGUAGE_CODES, type OcrLanguage } from '../../contract/files/ocrLanguages.js';
import { SOURCE_TYPES } from '../../contract/sources/sources.js';
import { FILE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import { TYPES_AT_SOURCE } from '../../contract/sources/typesAtSource.js';
import { TRANSCRIPTION_SERVICES } from '../../contract/files/uploads.js';
import { OAUTH_SOURCES } from '../../contract/accounts/whiteLabel.js';
import { named } from './reference.js';

/** Returns the named schema of an embedding model id. */
export const embeddingModel = () =>
  named(
    'EmbeddingGenerators',
    Joi.string()
      .valid(...EMBEDDING_MODEL_IDS)
      .description(
        'Id of an embedding model. `GET /models` returns which provider computes the vectors for each id. If the ' +
          'operator has configured no provider for an id, a small model that is part of the server computes them.',
      ),
  );

/** Description of the embedding model in requests that create files. */
export const MODEL_OF_FILES =
  'Model that embeds the chunks. Searches find the files only if they name the same model. Default: `OPENAI`; null counts as absent.';

/** Returns the named schema of the source of a file. */
export const sourceType = () =>
  named(
    'DataSourceType',
    Joi.string()
      .valid(...SOURCE_TYPES)
      .description(
        'Where a file comes from: a connected service (`GOOGLE_DRIVE`), the web (`WEB_SCRAPE`, `RSS_FEED`), or the format of an upload (`PDF`, `RAW_TEXT`).',
      ),
  );

/** Returns the named schema of the state of a file. */
export const fileSyncStatus = () =>
  named(
    'ExternalFileSyncStatuses',
    Joi.string()
      .valid(...FILE_SYNC_STATUSES)
      .description(
        'State of a file. `READY`: its content can be searched. `SYNC_ERROR`: it failed, and `sync_error_message` says why. `SYNC_ABORTED`: its run was cancelled. `READY_TO_SYNC`: it is stored but not processed. All others are on the way to one of these.',
      ),
  );

/** Returns the named schema of the direction of an order. */
export const orderDirection = () =>
  named(
    'OrderDir',
    Joi.string()
      .valid(...ORDER_DIRECTIONS)
      .description('`asc`: ascending, so numbers and times rise and names run from A to Z. `desc`: descending.'),
  );

/** Returns the named schema of a kind of content. */
export const mediaType = () =>
  named(
    'FileContentTypes',
    Joi.string()
      .valid(...MEDIA_TYPES)
      .description(
        'Kind of content. `TEXT`: text of documents, pages and OCR. `IMAGE`: pictures whose vectors were computed from the image itself. `AUDIO`, `VIDEO`: recordings, whose chunks are parts of the transcript.',
      ),
  );

/** Returns the named schema of the type of a file at its source. */
export const typeAtSource = () =>
  named(
    'FileTypeAtSource',
    Joi.string()
      .valid(...TYPES_AT_SOURCE)
      .description(
        'Type of a file at its source, such as `TICKET` or `ARTICLE`. Each source uses only some of the values.',
      ),
  );

/** Returns the named schema of a transcription service. */
export const transcriptionService = () =>
  named(
    'TranscriptionService',
    Joi.string()
      .valid(...TRANSCRIPTION_SERVICES)
      .description('Service that transcribes recordings. The operator configures its credentials.'),
  );

/** Returns the named schema of the format of extracted text. */
export const parsedTextFormat = () =>
  named(
    'ParsedTextFormats',
    Joi.string()
      .valid(...PARSED_TEXT_FORMATS)
      .description('Format of the text that is extracted from a file. `MARKDOWN` keeps headings, lists and tables.'),
  );

/** Returns the named schema of a source that is connected by OAuth. */
export const oauthSource = () =>
  named(
    'OauthBasedConnectors',
    Joi.string()
      .valid(...OAUTH_SOURCES)
      .description(
        'Source whose accounts users connect by giving their consent (OAuth), such as `GOOGLE_DRIVE` or `NOTION`.',
      ),
  );

/** Returns the named schema of a language of OCR. */
export const ocrLanguage = () =>
  named(
    'OcrLanguage',
    Joi.string<OcrLanguage>()
      .valid(...OCR_LANGUAGE_CODES)
      .description("Language that OCR can read, by Tesseract's code: `deu` is German, `chi_sim` simplified Chinese."),
  );
