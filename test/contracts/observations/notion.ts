import { elastic, nango, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/notion.test.ts';

export const notion: SourceObservations = {
  source: 'Notion',
  observations: [
    {
      aspect: 'formats',
      statement:
        'Blocks of meeting notes have the type `unsupported` and has_children: requests for their children are answered with 400.',
      ...{ link: 'https://github.com/n8n-io/n8n/pull/26188', date: '2026-02-24' },
      evidence: {
        test: [SUITE, 'reads and lists the rest of a page with a block that the API of Notion does not support'],
        fixed: true,
      },
    },
    {
      aspect: 'formats',
      statement: 'Requests for the children of blocks that show an object of another product are answered with 400.',
      ...{ link: 'https://github.com/elastic/connectors/issues/2306', date: '2024-03-28' },
      evidence: {
        test: [SUITE, 'reads and lists the rest of a page when Notion rejects the children of one block'],
        fixed: true,
      },
    },
    {
      aspect: 'formats',
      statement: 'A page that is an object of another product (external_object_instance_page) is answered with 400.',
      ...{ link: elastic(2337), date: '2024-04-03' },
      evidence: {
        test: [SUITE, 'reads the title and columns of a row whose blocks Notion does not list'],
        fixed: true,
      },
    },
    {
      aspect: 'formats',
      statement: 'AI blocks have the type ai_block and no content.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/01bd1a84c4', date: '2024-02-10' },
      evidence: { test: [SUITE, 'reads a page as its title, columns and blocks, as Markdown and as plain text'] },
    },
    {
      aspect: 'listing',
      statement: 'Subpages and databases that are not shared are answered with 404, and must not end the listing.',
      ...{ link: elastic(2312), date: '2024-04-19' },
      evidence: { test: [SUITE, 'reports children of a page that are not shared as skipped'] },
    },
    {
      aspect: 'listing',
      statement: 'Databases inside of pages may not be shared with the connection.',
      ...{ link: 'https://github.com/onyx-dot-app/onyx/commit/d9581ce0ae', date: '2023-11-03' },
      evidence: { test: [SUITE, 'reports children of a page that are not shared as skipped'] },
    },
    {
      aspect: 'limits',
      statement: 'A rate limit states its wait in Retry-After, also in the middle of a list.',
      ...{ link: elastic(2297), date: '2024-04-02' },
      evidence: { test: [SUITE, 'reports 429 and 529 as a rate limit with Retry-After'] },
    },
    {
      aspect: 'limits',
      statement: 'Clients that ignore Retry-After are refused again.',
      ...{ link: nango(1457), date: '2023-12-21' },
      evidence: { test: [SUITE, 'reports 429 and 529 as a rate limit with Retry-After'] },
    },
    {
      aspect: 'listing',
      statement: 'Deeply nested pages overflow the stack of a recursive reader.',
      ...{ link: onyx(12_040), date: '2026-06-15' },
      evidence: {
        reason: 'Blocks are read level by level, and child pages are listed from a queue; both have a maximum depth.',
        file: 'connectors/notion/blocks.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Since version 2025-09-03 a database contains data sources, which have the columns and the rows.',
      ...{ link: onyx(9609), date: '2026-03-25' },
      evidence: { test: [SUITE, 'is listed by one search, each item with its parent, through columns and databases'] },
    },
    {
      aspect: 'listing',
      statement: 'A database may be found only by search, without a block in its parent page.',
      ...{ link: onyx(12_393), date: '2026-06-24' },
      evidence: { test: [SUITE, 'is listed by one search, each item with its parent, through columns and databases'] },
    },
    {
      aspect: 'paging',
      statement:
        'A query of a data source ends after 10,000 rows: has_more is false, and request_status is incomplete.',
      ...{ link: 'https://github.com/makenotion/notion-sdk-js/pull/730', date: '2026-06-25' },
      evidence: { test: [SUITE, 'lists the rows of a database that one query does not return'], fixed: true },
    },
    {
      aspect: 'paging',
      statement: 'The page on which a query reports its limit is not always the last page.',
      ...{ link: 'https://developers.notion.com/guides/data-apis/query-large-data-sources', date: '2026-11' },
      evidence: {
        reason: 'The cursor of the listing keeps the status of earlier pages of the query.',
        file: 'connectors/notion/rows.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Cells of tables and names of people have their text in other fields than other blocks and columns.',
      ...{ link: onyx(9891), date: '2026-04-03' },
      evidence: { test: [SUITE, 'reads a page as its title, columns and blocks, as Markdown and as plain text'] },
    },
    {
      aspect: 'formats',
      statement: 'Columns may be empty, nested or null.',
      ...{ link: onyx(2817), date: '2024-10-15' },
      evidence: { test: [SUITE, 'are converted to text: %j'] },
    },
    {
      aspect: 'changes',
      statement: 'A connector that compared times wrongly read all pages again in each sync.',
      ...{ link: onyx(1755), date: '2024-07-02' },
      evidence: { test: [SUITE, 'gives an item a version only after the minute of its last change has passed'] },
    },
  ],
};
