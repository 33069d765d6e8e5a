import Joi from 'joi';

import type { PageOptions } from '../../contract/files/ingestOptions.js';
import { orNull, prefixes } from './fields.js';
import { stepFields } from './ingest.js';
import { extension } from './reference.js';
import { skipNames, skipSelectors } from './skipLists.js';
import type { Shape } from './inferred.js';

/** Maximum number of included or excluded paths per request. */
const MAX_PATHS = 10;

export const paths = () => orNull(prefixes().max(MAX_PATHS), []);

/** Options for fetching and reading pages, shared by every scrape. */
export const pageFields = () => ({
  enable_auto_sync: orNull(Joi.boolean(), false).description(
    '`true`: repeat the scrape at the `auto_sync_interval` of the user, of the organization, or every 24 hours. A scheduled scrape deletes pages that vanished from the site. Null: `false`.',
  ),
  html_tags_to_skip: orNull(skipNames(), []).description(
    'Names of HTML elements to remove with their content, such as `nav`. At most 100 names of up to 500 characters. Null: none.',
  ),
  css_classes_to_skip: orNull(skipNames(), []).description(
    'Removes elements that have one of these class names, such as `sidebar` or `.sidebar`. At most 100 names of up to 500 characters. Null: none.',
  ),
  css_selectors_to_skip: orNull(skipSelectors(), []).description(
    'Removes elements that match one of these CSS selectors, such as `#footer > ul`. An invalid one returns 422, blank ones are ignored. At most 100 selectors of up to 500 characters, and 5,000 characters in all different selectors of the request. Null: none.',
  ),
  download_css_and_media: orNull(Joi.boolean(), false).description(
    '`true`: render every page in a browser with its styles and media, which takes longer. `false`: only pages that look empty without scripts are rendered. Null: `false`.',
  ),
  remove_repeated_blocks: extension(Joi.boolean().default(true)).description(
    '`true`: blocks that most pages of the site repeat, such as menus and notices, are removed from all pages but one. They are learned from the first pages of the scrape (server setting `SITE_SAMPLE_PAGES`); `file_metadata.repeated_blocks_removed` counts them. `false`: they stay.',
  ),
  ...stepFields(),
  use_premium_proxies: Joi.boolean()
    .default(false)
    .description(
      '`true`: repeat refused requests (such as 403 or 429) through a proxy of the server setting `PREMIUM_PROXY_URLS`. Missing, slow or broken pages are not repeated.',
    ),
});

export type PageBody = Shape<ReturnType<typeof pageFields>>;

/** Converts the page options of a request. */
export const toPageOptions = (body: PageBody): PageOptions => ({
  htmlTagsToSkip: body.html_tags_to_skip,
  cssClassesToSkip: body.css_classes_to_skip,
  cssSelectorsToSkip: body.css_selectors_to_skip,
  downloadCssAndMedia: body.download_css_and_media,
  usePremiumProxies: body.use_premium_proxies,
  ...(!body.remove_repeated_blocks && { removeRepeatedBlocks: false }),
});
