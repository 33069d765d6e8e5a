import Joi from 'joi';
import { named } from './reference.js';

/** Response of a live read of a page; error_message is null if the read succeeded. */
export const pageLinks = named(
  'FetchURLsResponse',
  Joi.object({
    urls: Joi.array()
      .items(Joi.string())
      .required()
      .description(
        'Addresses that were found: the links of the page (at most 10,000, of any host), or the results of the search.',
      ),
    html_content: Joi.string()
      .allow('')
      .required()
      .description(
        'HTML source of the page, without running its scripts. Empty for a search, and if the page could not be read.',
      ),
    error_message: Joi.string()
      .allow(null)
      .required()
      .description('Why the page could not be read, as a sentence. Null if it was read.'),
  }).description('Links and source of a page, or the addresses that a web search found.'),
);
