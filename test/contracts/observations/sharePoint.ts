import { elastic, onyx, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/microsoft/sharePoint.test.ts';
const DRIVES = 'test/connectors/microsoft/oneDrive.test.ts';

export const sharePoint: SourceObservations = {
  source: 'SharePoint',
  facts: [
    {
      about: 'formats',
      fact: 'A page with an invalid layout, such as web parts with the same id, is answered with 400 invalidRequest if the layout is requested.',
      ...{ seen: 'https://github.com/SharePoint/sp-dev-docs/issues/8822', date: '2023-03-14' },
      ours: { test: [SUITE, 'with an invalid layout are unsupported content, not missing'], fixed: true },
    },
    {
      about: 'listing',
      fact: 'One page with an invalid layout makes the whole list of pages fail if layouts are requested.',
      ...{ seen: onyx(9321), date: '2026-03-13' },
      ours: {
        safe: 'The list selects fields without the layout; each page is read separately.',
        in: 'connectors/microsoft/sharePoint/pages.ts',
      },
    },
    {
      about: 'formats',
      fact: 'Some pages answer 500 generalException for their layout, in one site a third of all pages.',
      ...{ seen: 'https://github.com/SharePoint/sp-dev-docs/issues/9465', date: '2024-01-17' },
      ours: {
        safe: 'Such a page fails with server_error after its retries, and keeps its previous content; the others are read.',
        in: 'connectors/microsoft/sharePoint/pages.ts',
      },
    },
    {
      about: 'limits',
      fact: 'Graph answers with an empty or invalid body and a status of success under load.',
      ...{ seen: onyx(13_540), date: '2026-07-29' },
      ours: { test: [SUITE, 'never counts as the end of a list'] },
    },
    {
      about: 'limits',
      fact: 'Locked and archived sites answer 423.',
      ...{ seen: onyx(11_266), date: '2026-05-21' },
      ours: { test: [DRIVES, 'with status %i, headers %o and code %s are reported as %s'] },
    },
    {
      about: 'listing',
      fact: 'Listed sites may refuse their contents with 403, 404 or 410.',
      ...{ seen: onyx(11_193), date: '2026-05-20' },
      ours: {
        safe: 'A connection has one site; its drives are roots of their own, and a refused one keeps its known contents.',
        in: 'activities/connected/walk.ts',
      },
    },
    {
      about: 'listing',
      fact: 'The default library has another name in its URL, and translated names: a search by name misses it.',
      ...{ seen: onyx(6539), date: '2025-12-03' },
      ours: {
        safe: 'Libraries are listed and requested by id, never by name.',
        in: 'connectors/microsoft/sharePoint/site.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Filters by the path of a folder lost the contents of nested folders.',
      ...{ seen: onyx(5404), date: '2025-09-13' },
      ours: { test: [DRIVES, 'of a folder contain the folder and its descendants only'] },
    },
    {
      about: 'listing',
      fact: 'URLs of sites may contain apostrophes and encoded characters.',
      ...{ seen: onyx(5208), date: '2025-08-18' },
      ours: {
        safe: 'Site names are checked character by character, and sent as encoded path segments.',
        in: 'connectors/microsoft/sharePoint/site.ts',
      },
    },
    {
      about: 'listing',
      fact: 'Technical lists and storage containers (SharePointHomeCacheList, /contentstorage/) are listed with the others and refuse access.',
      ...{ seen: elastic(4306), date: '2026-07-30' },
      ours: {
        safe: 'Only document libraries and pages of one site are listed; a refused library does not end the sync.',
        in: 'connectors/microsoft/sharePoint/index.ts',
      },
    },
    {
      about: 'changes',
      fact: 'An edit in a library does not change the time of the library: comparing that time skips edited files.',
      ...{ seen: elastic(1827), date: '2023-10-23' },
      ours: { test: [SUITE, 'reports changes in all libraries of the site'] },
    },
    {
      about: 'changes',
      fact: 'Delta of OneDrive for Business and SharePoint omits cTag, so versions of feed and listing differ.',
      ...{
        seen: 'https://github.com/microsoftgraph/microsoft-graph-docs-contrib/blob/028b8e354879f1054adbd96bfa8d16fff4330811/api-reference/v1.0/api/driveitem-delta.md',
        date: '2026-11-26',
      },
      ours: {
        test: [DRIVES, 'gives a file the version that listings give it, although the feed omits cTag'],
        fixed: true,
      },
    },
    {
      about: 'limits',
      fact: 'Downloads fail temporarily while large libraries are read.',
      ...{ seen: onyx(11_221), date: '2026-05-20' },
      ours: {
        safe: 'A failed download is retried as a server error of its own file.',
        in: 'connectors/errorClasses.ts',
      },
    },
  ],
};
