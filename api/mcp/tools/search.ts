import Joi from 'joi';

import type { DocumentRecord } from '../../../contract/files/records.js';
import { embeddings } from '../../chunks/embeddings.js';
import { HttpError } from '../../http/errors.js';
import { sourceType } from '../../schemas/enums.js';
import { integer, nullable } from '../../schemas/fields.js';
import type { Infer } from '../../schemas/inferred.js';
import { tagFilter } from '../../schemas/tags.js';
import type { Agent } from '../agent.js';
import { cutText, firstThatFit } from '../bounds.js';
import { fileFields, limit, more, record } from '../schemas.js';
import { READS, tool } from '../tool.js';
import { uriOf } from '../uris.js';

/** Maximum number of passages of a search on all of its pages: offset plus limit is cut to it. */
const MAX_HITS = 500;
/** Maximum number of files that filters by source and time may select: the limit of file ids in a search. */
const MAX_FILES = 10_000;

const input = Joi.object({
  query: Joi.string().min(1).required().description('Question or words to search for.'),
  limit: limit(8, 50),
  offset: integer()
    .min(0)
    .max(MAX_HITS - 1)
    .default(0)
    .description('Number of best passages to skip, to continue an earlier search.'),
  sources: Joi.array()
    .items(sourceType())
    .description('Only files from these sources. For uploads it is the format, such as PDF.'),
  tags: tagFilter().description('Only files with all of these tags; a list of values matches any of them.'),
  file_ids: Joi.array()
    .items(integer())
    .max(1_000)
    .description('Only these files, and the files below them: pages of a site, files of a folder.'),
  created_from: Joi.string()
    .isoDate()
    .description('Only files added at this time or later. ISO 8601; a time without an offset is in UTC.'),
  created_before: Joi.string()
    .isoDate()
    .description('Only files added before this time. ISO 8601; a time without an offset is in UTC.'),
  mode: Joi.string()
    .valid('hybrid', 'semantic')
    .default('hybrid')
    .description('hybrid: by meaning and words. semantic: by meaning only.'),
});
type Input = Infer<typeof input>;

/**
 * Parses a time that `isoDate` accepts. Date rejects an offset of hours only, and reads a time without an offset in the
 * time zone of this process.
 */
function timeOf(text: string): Date {
  if (!text.includes('T')) return new Date(text);
  if (/[+-]\d{2}$/.test(text)) return new Date(`${text}:00`);
  return new Date(/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`);
}

/** The passage's place in its file, as content_metadata has it. */
interface PagePosition {
  readonly pg_start?: number;
  readonly pg_end?: number;
  readonly boxes?: readonly object[];
}

const box = record({
  page: integer(),
  x1: Joi.number(),
  x2: Joi.number(),
  y1: Joi.number(),
  y2: Joi.number(),
}).unknown();

const passage = record({
  rank: integer().description('Position among all passages found, from 1. Cite a passage by it: [1].'),
  ...fileFields,
  text: Joi.string().allow('').description('The passage.'),
  is_shortened: Joi.boolean().description('Whether `text` is only the beginning of the passage.'),
  score: nullable(Joi.number()).description('Higher is better; comparable within one search only.'),
  chunk_index: nullable(integer()).description('Position of the passage in its file.'),
  page_from: nullable(integer()).description('First page of the passage, from 1; null if the file has no pages.'),
  page_to: nullable(integer()).description('Last page of the passage.'),
  boxes: Joi.array().items(box).description('Boxes of the passage on its pages, in PDF points.'),
});

const hasNoRecordFilters = ({ sources, created_from: from, created_before: before }: Input): boolean =>
  (sources?.length ?? 0) === 0 && from === undefined && before === undefined;

/**
 * Returns the ids of files that the search is limited to. A search of chunks cannot filter by source or time, so these
 * filters are first applied to the file records. @throws HttpError 422 if too many files match
 */
async function selectFiles(wanted: Input, { caller, deps }: Agent): Promise<readonly number[]> {
  const { files } = deps.store;
  const { sources, file_ids: requestedIds = [], created_from: from, created_before: before, tags } = wanted;
  const filters = {
    ...(sources ? { sources } : {}),
    ...(tags ? { tags } : {}),
    ...(from === undefined ? {} : { createdFrom: timeOf(from) }),
    ...(before === undefined ? {} : { createdBefore: timeOf(before) }),
    includeContainers: false,
  };
  const locations =
    requestedIds.length === 0
      ? [{}]
      : [{ ids: requestedIds }, { parentFileIds: requestedIds, includeAllChildren: true }];
  const found = await Promise.all(
    locations.map((location) => files.ids(caller, { ...filters, ...location }, MAX_FILES + 1)),
  );
  const ids = [...new Set(found.flat())];
  if (ids.length > MAX_FILES)
    throw new HttpError(
      422,
      `More than ${MAX_FILES} files match the filters. Narrow them by tags, a shorter time or file_ids, or search without sources and times.`,
    );
  return ids;
}

function passageOf(found: DocumentRecord) {
  const { pg_start: from = null, pg_end: to = null, boxes = [] } = (found.content_metadata ?? {}) as PagePosition;
  return {
    rank: found.rank ?? 0,
    file_id: found.file_id,
    uri: uriOf(found.file_id),
    name: found.source,
    source: found.source_type ?? '',
    url: found.source_url,
    text: found.content,
    is_shortened: false,
    score: found.score,
    chunk_index: found.chunk_index,
    ...{ page_from: from, page_to: to, boxes },
  };
}

/** Shortens a passage that is longer than a whole result may be. */
function shortened(full: ReturnType<typeof passageOf>, max: number): ReturnType<typeof passageOf> {
  const bare = { ...full, text: '', boxes: [], is_shortened: true };
  return { ...bare, text: cutText(full.text, max - JSON.stringify(bare).length) };
}

const COLD_NOTE =
  'Matching files in cold storage were not searched; the application of the user can move them to hot storage.';

/**
 * Searches. If the search is refused with 409, because its filters match files in cold storage, repeats it without
 * these files.
 */
async function searchHot(body: object, { perform }: Agent): Promise<{ documents: DocumentRecord[]; hasCold: boolean }> {
  const documentsFor = async (fields: object): Promise<DocumentRecord[]> => {
    const answer = await perform(embeddings, { body: { ...body, ...fields } });
    return (answer as { documents: DocumentRecord[] }).documents;
  };
  try {
    return { documents: await documentsFor({}), hasCold: false };
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 409)) throw error;
    return { documents: await documentsFor({ exclude_cold_storage_files: true }), hasCold: true };
  }
}

/** Returns how to get further passages; null if there are none. @param next offset of the next passage */
function moreAfter(next: number, isAll: boolean): string | null {
  if (isAll) return null;
  return next < MAX_HITS
    ? `Search again with offset ${next} for the next passages, or read the files with read_file.`
    : `A search returns at most ${MAX_HITS} passages. Narrow it, or read the files with read_file.`;
}

/** Finds passages for a question, with what a citation needs. */
export const search = tool({
  name: 'search',
  title: 'Search stored content',
  description:
    'Finds the passages of the user’s files that answer a question best, each with its file, page, boxes and URL for citations. Read more of a file with read_file.',
  scope: 'read',
  annotations: READS,
  input,
  output: record({
    passages: Joi.array().items(passage).description('The best passages, the best first.'),
    more: more(),
  }),
  async run(wanted, agent) {
    const { query, offset, tags, file_ids: requestedIds = [] } = wanted;
    const ids = hasNoRecordFilters(wanted) ? requestedIds : await selectFiles(wanted, agent);
    if (ids.length === 0 && !hasNoRecordFilters(wanted))
      return { passages: [], more: 'No file matches the filters. Call list_files, or search without them.' };
    const k = Math.min(offset + wanted.limit, MAX_HITS);
    const body = {
      query,
      k,
      hybrid_search: wanted.mode === 'hybrid',
      ...(tags ? { tags } : {}),
      ...(ids.length > 0 ? { file_ids: ids, include_all_children: hasNoRecordFilters(wanted) } : {}),
    };
    const { documents, hasCold } = await searchHot(body, agent);
    const passages = documents.slice(offset).map(passageOf);
    const fittingPassages = firstThatFit(passages, agent.deps.settings.mcpMaxResultCharacters, shortened);
    const isAll = fittingPassages.length === passages.length && documents.length < k;
    const notes = [hasCold ? COLD_NOTE : null, moreAfter(offset + fittingPassages.length, isAll)];
    return { passages: fittingPassages, more: notes.filter((note) => note !== null).join(' ') || null };
  },
});
