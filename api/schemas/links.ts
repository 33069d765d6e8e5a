import Joi from 'joi';

/** What a live read of one page answers; an error_message is null where it was read. */
export const pageLinks = Joi.object({
  urls: Joi.array().items(Joi.string()).required(),
  html_content: Joi.string().allow('').required(),
  error_message: Joi.string().allow(null).required(),
});
