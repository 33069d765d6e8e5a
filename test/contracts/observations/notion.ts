import { elastic, nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/notion.test.ts';

export const notion: SourceObservations = {
  source: 'Notion',
  facts: [
    {
      about: 'formats',
      fact: 'Blocks of meeting notes have the type `unsupported` and has_children: requests for their children are answered with 400.',
      ...{ seen: 'https://github.com/n8n-io/n8n/pull/26188', date: '2026-02-24' },
      ours: {
        test: [SUITE, 'reads and lists a page around a block that the API of Notion does not support'],
        fixed: true,
      },
    },
    {
      about: 'formats',
      fact: 'Requests for the children of blocks that show an object of another product are answered with 400.',
      ...{ seen: 'https://github.com/elastic/connectors/issues/2306', date: '2024-03-28' },
      ours: {
        test: [SUITE, 'keeps the rest of a page and of a selection when Notion rejects the children of one block'],
        fixed: true,
      },
    },
    {
      about: 'formats',
      fact: 'A page that is such an object (external_object_instance_page) is itself answered with 400.',
      ...{ seen: elastic(2337), date: '2024-04-03' },
      ours: { test: [SUITE, 'reads the title and columns of a row whose blocks Notion does not list'], fixed: true },
    },
    {
      about: 'formats',
      fact: 'AI blocks have the type ai_block and no content.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/01bd1a84c4', date: '2024-02-10' },
      ours: { test: [SUITE, 'reads a page as its title, columns and blocks, as Markdown and as plain text'] },
    },
    {
      about: 'listing',
      fact: 'Subpages and databases that are not shared are answered with 404, and must not end the listing.',
      ...{ seen: elastic(2312), date: '2024-04-19' },
      ours: { test: [SUITE, 'reports children of a page that are not shared as skipped'] },
    },
    {
      about: 'listing',
      fact: 'Databases inside of pages may not be shared with the connection.',
      ...{ seen: 'https://github.com/onyx-dot-app/onyx/commit/d9581ce0ae', date: '2023-11-03' },
      ours: { test: [SUITE, 'reports children of a page that are not shared as skipped'] },
    },
    {
      about: 'limits',
      fact: 'A rate limit names its end in Retry-After, also in the middle of a list.',
      ...{ seen: elastic(2297), date: '2024-04-02' },
      ours: { test: [SUITE, 'reports 429 and 529 as a rate limit with Retry-After'] },
    },
    {
      about: 'limits',
      fact: 'Clients that ignore Retry-After are refused again.',
      ...{ seen: nango(1457), date: '2023-12-21' },
      ours: { test: [SUITE, 'reports 429 and 529 as a rate limit with Retry-After'] },
    },
    {
      about: 'listing',
      fact: 'Deeply nested pages overflow the stack of a recursive reader.',
      ...{ seen: onyx(12_040), date: '2026-06-15' },
      ours: {
        safe: 'Blocks are read level by level, and child pages are listed from a queue; both have a maximum depth.',
        in: 'connectors/notion/blocks.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Since version 2025-09-03 a database contains data sources, which have the columns and the rows.',
      ...{ seen: onyx(9609), date: '2026-03-25' },
      ours: { test: [SUITE, 'is listed by one search, each item with its parent, through columns and databases'] },
    },
    {
      about: 'listing',
      fact: 'A database may be found only by search, without a block in its parent page.',
      ...{ seen: onyx(12_393), date: '2026-06-24' },
      ours: { test: [SUITE, 'is listed by one search, each item with its parent, through columns and databases'] },
    },
    {
      about: 'paging',
      fact: 'A query of a data source ends after 10,000 rows: has_more is false, and request_status is incomplete.',
      ...{ seen: 'https://github.com/makenotion/notion-sdk-js/pull/730', date: '2026-06-25' },
      ours: { test: [SUITE, 'lists the rows of a database that one query does not return'], fixed: true },
    },
    {
      about: 'paging',
      fact: 'The page of a query that names the limit need not be the last one.',
      ...{ seen: 'https://developers.notion.com/guides/data-apis/query-large-data-sources', date: '2026-11' },
      ours: {
        safe: 'The cursor of the listing keeps the status of earlier pages of the query.',
        in: 'connectors/notion/rows.ts',
      },
    },
    {
      about: 'formats',
      fact: 'Cells of tables and names of people have their text in other fields than other blocks and columns.',
      ...{ seen: onyx(9891), date: '2026-04-03' },
      ours: { test: [SUITE, 'reads a page as its title, columns and blocks, as Markdown and as plain text'] },
    },
    {
      about: 'formats',
      fact: 'Columns may be empty, nested or null.',
      ...{ seen: onyx(2817), date: '2024-10-15' },
      ours: { test: [SUITE, 'are converted to text: %j'] },
    },
    {
      about: 'changes',
      fact: 'A wrong comparison of times read all pages in each sync.',
      ...{ seen: onyx(1755), date: '2024-07-02' },
      ours: { test: [SUITE, 'gives an item a version only after the minute of its last change has passed'] },
    },
  ],
};
