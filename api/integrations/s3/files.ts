import Joi from 'joi';

import { idOf, idOfPrefix } from '../../../contract/objectIds.js';
import type { TagValue } from '../../../contract/records.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { ingestFields } from '../../schemas/ingest.js';
import {
  type ConnectedFilesBody,
  fileSyncConfig,
  requestId,
  success,
  toConnectedIngest,
} from '../../schemas/integrations.js';
import { MAX_MEMBERS } from '../../schemas/listing.js';
import { tags } from '../../schemas/tags.js';
import { onlySourceOf } from '../dataSourceOf.js';
import { syncSelection } from '../syncSelection.js';

/** A bucket; what begins with a prefix in it; an object by its key. An id without a bucket is that of an item. */
interface Chosen {
  id?: string;
  bucket?: string;
  prefix?: string;
}

interface Body extends ConnectedFilesBody {
  ids: Chosen[];
  data_source_id?: number;
  tags: Record<string, TagValue>;
  request_id?: string;
}

const MAX_KEY = 2_048;
const text = () => orNull(Joi.string().allow('').max(MAX_KEY));

/** @throws HttpError 422 where a choice says nothing, or has no bucket where one is needed */
function externalIdOf({ id = '', bucket = '', prefix = '' }: Chosen, index: number): string {
  if (bucket !== '') return id === '' ? idOfPrefix(bucket, prefix) : idOf(bucket, id);
  if (id !== '' && prefix === '') return id;
  // Each field by itself may be absent or null, so it is the choice that is wrong.
  throw invalid(['body', 'ids', index], 'Name a bucket, or an item by its id alone', 'value_error');
}

/** POST /integrations/s3/files: makes files of objects, of what begins with a prefix, or of whole buckets. */
export const syncS3Files = operation<'user', Body>({
  method: 'post',
  path: '/integrations/s3/files',
  auth: 'user',
  summary: 'Syncs objects, prefixes or buckets of a connected S3.',
  createsWork: true,
  body: Joi.object({
    ids: Joi.array()
      .items(Joi.object({ id: text(), bucket: text(), prefix: text() }))
      .max(MAX_MEMBERS)
      .required(),
    data_source_id: orNull(integer()),
    tags: orNull(tags(), {}),
    ...ingestFields(),
    max_items_per_chunk: orNull(integer().greater(0)),
    set_page_as_boundary: Joi.boolean().default(false),
    request_id: requestId(),
    use_ocr: orNull(Joi.boolean(), false),
    parse_pdf_tables_with_ocr: orNull(Joi.boolean(), false),
    file_sync_config: fileSyncConfig(),
  }),
  answer: success,
  async handle({ caller, body, deps }) {
    const externalIds = body.ids.map(externalIdOf);
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'S3');
    const ingest = toConnectedIngest(body);
    const selection = { externalIds, tags: body.tags, ingest, requestId: body.request_id };
    return syncSelection(caller, source._id, selection, deps);
  },
});
