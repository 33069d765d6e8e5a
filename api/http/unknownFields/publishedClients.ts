/**
 * Fields outside the public contract that published clients send with every request, by operation. They have no effect
 * here. Their callers did not write them, so they are neither reported nor refused.
 */
export const SENT_BY_CLIENTS: Readonly<Record<string, readonly string[]>> = {
  '/integrations/files/sync': ['data_source_tags', 'scopes', 'sync_files_on_connection', 'sync_source_items'],
  '/scrape_sitemap': ['recursion_depth', 'prepend_title_to_chunks'],
  '/user_files_v2': ['include_parsed_file'],
  '/web_scrape': ['prepend_title_to_chunks'],
};
