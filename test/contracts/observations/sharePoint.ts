import { elastic, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/microsoft/sharePoint.test.ts';
const DRIVES = 'test/connectors/microsoft/oneDrive.test.ts';

export const sharePoint: SourceObservations = {
  source: 'SharePoint',
  observations: [
    {
      aspect: 'formats',
      statement:
        'A page with an invalid layout, such as web parts with the same id, is answered with 400 invalidRequest if the layout is requested.',
      ...{ link: 'https://github.com/SharePoint/sp-dev-docs/issues/8822', date: '2023-03-14' },
      evidence: { test: [SUITE, 'with an invalid layout are unsupported content, not missing'], fixed: true },
    },
    {
      aspect: 'listing',
      statement: 'One page with an invalid layout makes the whole list of pages fail if layouts are requested.',
      ...{ link: onyx(9321), date: '2026-03-13' },
      evidence: {
        reason: 'The list selects fields without the layout; each page is read separately.',
        file: 'connectors/microsoft/sharePoint/pages.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'Some pages answer 500 generalException for their layout, in one site a third of all pages.',
      ...{ link: 'https://github.com/SharePoint/sp-dev-docs/issues/9465', date: '2024-01-17' },
      evidence: {
        reason:
          'Such a page fails with server_error after its retries, and keeps its previous content; the others are read.',
        file: 'connectors/microsoft/sharePoint/pages.ts',
      },
    },
    {
      aspect: 'limits',
      statement: 'Graph answers with an empty or invalid body and a status of success under load.',
      ...{ link: onyx(13_540), date: '2026-07-29' },
      evidence: { test: [SUITE, 'never counts as the end of a list'] },
    },
    {
      aspect: 'limits',
      statement: 'Locked and archived sites answer 423.',
      ...{ link: onyx(11_266), date: '2026-05-21' },
      evidence: { test: [DRIVES, 'with status %i, headers %o and code %s are reported as %s'] },
    },
    {
      aspect: 'listing',
      statement: 'Listed sites may refuse their contents with 403, 404 or 410.',
      ...{ link: onyx(11_193), date: '2026-05-20' },
      evidence: {
        reason:
          'A connection has one site; its drives are roots of their own, and a refused one keeps its known contents.',
        file: 'activities/connected/walk.ts',
      },
    },
    {
      aspect: 'listing',
      statement:
        'The name of the default library is translated, and differs from that in its URL: a search by name misses the library.',
      ...{ link: onyx(6539), date: '2025-12-03' },
      evidence: {
        reason: 'Libraries are listed and requested by id, never by name.',
        file: 'connectors/microsoft/sharePoint/site.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Filters by the path of a folder omitted the contents of nested folders.',
      ...{ link: onyx(5404), date: '2025-09-13' },
      evidence: { test: [DRIVES, 'of a folder contain the folder and its descendants only'] },
    },
    {
      aspect: 'listing',
      statement: 'URLs of sites may contain apostrophes and encoded characters.',
      ...{ link: onyx(5208), date: '2025-08-18' },
      evidence: {
        reason: 'Site names are checked character by character, and sent as encoded path segments.',
        file: 'connectors/microsoft/sharePoint/site.ts',
      },
    },
    {
      aspect: 'listing',
      statement:
        'Technical lists and storage containers (SharePointHomeCacheList, /contentstorage/) are listed with the others and refuse access.',
      ...{ link: elastic(4306), date: '2026-07-30' },
      evidence: {
        reason: 'Only document libraries and pages of one site are listed; a refused library does not end the sync.',
        file: 'connectors/microsoft/sharePoint/index.ts',
      },
    },
    {
      aspect: 'changes',
      statement:
        'An edit in a library does not change the time of the library: comparing that time skips edited files.',
      ...{ link: elastic(1827), date: '2023-10-23' },
      evidence: { test: [SUITE, 'reports changes in all libraries of the site'] },
    },
    {
      aspect: 'changes',
      statement: 'Delta of OneDrive for Business and SharePoint omits cTag, so versions of feed and listing differ.',
      ...{
        link: 'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/028b8e354879f1054adbd96bfa8d16fff4330811/api-reference/v1.0/api/driveitem-delta.md',
        date: '2026-11-26',
      },
      evidence: {
        test: [DRIVES, 'gives a file the version that listings give it, although the feed omits cTag'],
        fixed: true,
      },
    },
    {
      aspect: 'limits',
      statement: 'Downloads fail temporarily while large libraries are read.',
      ...{ link: onyx(11_221), date: '2026-05-20' },
      evidence: {
        reason: 'HTTP 5xx is a `server_error`, which is retried. A failed download affects only its own file.',
        file: 'connectors/errorClasses.ts',
      },
    },
  ],
};
