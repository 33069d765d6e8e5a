import Joi from 'joi';

import { readText } from '../readText.js';
import { integer, nullable } from '../../schemas/fields.js';
import { fileFields, more, record } from '../schemas.js';
import { READS, tool } from '../tool.js';

/** Reads the text of a file in parts. */
export const readFile = tool({
  name: 'read_file',
  title: 'Read a file',
  description:
    'Returns the extracted text of a file, from a character offset or of a page of a PDF. Long texts come in parts; `more` says how to continue.',
  scope: 'read',
  annotations: READS,
  input: Joi.object({
    file_id: integer().required().description('Id of the file, as search and list_files return it.'),
    offset: integer()
      .min(0)
      .default(0)
      .description('Character (UTF-16) at which to begin. With `page`: within that page.'),
    page: integer()
      .min(1)
      .description('Page of a PDF, counted from 1. Passages that are partly on another page are returned whole.'),
    max_characters: integer().min(100).max(1_000_000).default(20_000).description('Maximum length of the text.'),
  }),
  output: record({
    ...fileFields,
    text: Joi.string().allow(''),
    offset: integer().description('Offset of `text`, as in the input.'),
    next_offset: nullable(integer()).description('Offset at which the text continues; null at its end.'),
    page: nullable(integer()).description('The requested page.'),
    last_page: nullable(integer()).description('Last page with text; null if the file has no pages.'),
    more: more(),
  }),
  async run({ file_id: fileId, offset, page = null, max_characters: length }, agent) {
    const { next, ...part } = await readText(agent, { fileId, offset, page, length });
    const where = page === null ? '' : ` and page ${page}`;
    return {
      ...part,
      next_offset: next,
      more: next === null ? null : `Call read_file again with file_id ${fileId}, offset ${next}${where}.`,
    };
  },
});
