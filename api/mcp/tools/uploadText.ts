import Joi from 'joi';

import type { FileRecord } from '../../../contract/files/records.js';
import { uploadText as operation } from '../../files/uploadText.js';
import { integer } from '../../schemas/fields.js';
import { queued, queuedOf } from '../queued.js';
import { tool } from '../tool.js';

/** Tool that stores a text as a file. */
export const uploadText = tool({
  name: 'upload_text',
  title: 'Store a text',
  description:
    'Stores a text as a file that search finds, or replaces an earlier one. It returns before the file is processed; poll sync_status for the progress.',
  scope: 'write',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Joi.object({
    text: Joi.string().min(5).required().description('The text, of at least 5 characters.'),
    name: Joi.string().max(1_024).required().description('Name of the file.'),
    replaces_file_id: integer().description('Id of a file of an earlier upload_text, which the text replaces.'),
  }),
  output: queued,
  async run({ text, name, replaces_file_id: replaced }, { perform }) {
    const file = await perform(operation, {
      body: {
        contents: text,
        name,
        generate_sparse_vectors: true,
        ...(replaced === undefined ? {} : { overwrite_file_id: replaced }),
      },
    });
    return queuedOf(file as FileRecord);
  },
});
