import Joi from 'joi';
import { named } from './reference.js';

/** Response of a live read of a page; error_message is null if the read succeeded. */
export const pageLinks = named(
  'FetchURLsResponse',
  Joi.object({
    urls: Joi.array().items(Joi.string()).required(),
    html_content: Joi.string().allow('').required(),
    error_message: Joi.string().allow(null).required(),
  }),
);
