import Joi from 'joi';

import type { PageOptions } from '../../contract/ingestOptions.js';
import { orNull, prefixes } from './fields.js';
import { stepFields } from './ingest.js';
import { skipNames, skipSelectors } from './skipLists.js';
import type { Shape } from './inferred.js';

/** Maximum number of included or excluded paths per request. */
const MAX_PATHS = 10;

export const paths = () => orNull(prefixes().max(MAX_PATHS), []);

/** Options for fetching and reading pages, shared by every scrape. */
export const pageFields = () => ({
  enable_auto_sync: orNull(Joi.boolean(), false),
  html_tags_to_skip: orNull(skipNames(), []),
  css_classes_to_skip: orNull(skipNames(), []),
  css_selectors_to_skip: orNull(skipSelectors(), []),
  download_css_and_media: orNull(Joi.boolean(), false),
  ...stepFields(),
  use_premium_proxies: Joi.boolean().default(false),
});

export type PageBody = Shape<ReturnType<typeof pageFields>>;

/** Converts the page options of a request to ours. */
export const toPageOptions = (body: PageBody): PageOptions => ({
  htmlTagsToSkip: body.html_tags_to_skip,
  cssClassesToSkip: body.css_classes_to_skip,
  cssSelectorsToSkip: body.css_selectors_to_skip,
  downloadCssAndMedia: body.download_css_and_media,
  usePremiumProxies: body.use_premium_proxies,
});
