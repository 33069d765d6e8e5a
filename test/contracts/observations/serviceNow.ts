import { elastic, type SourceObservations } from './observation.js';

const SUITE = 'test/connectors/serviceNow.test.ts';

export const serviceNow: SourceObservations = {
  source: 'ServiceNow',
  observations: [
    {
      aspect: 'paging',
      statement: 'A list ends at 10,000 records without an error; only the Link header shows that it continues.',
      ...{ link: 'https://github.com/ServiceNowITOM/ansible-sn-inventory/issues/15', date: '2019-04-08' },
      evidence: { test: [SUITE, 'of a table pages by sys_id, with attachments and without drafts'] },
    },
    {
      aspect: 'paging',
      statement: 'A connector read only the first 50 records of a query, because it did not page it.',
      ...{ link: elastic(3559), date: '2025-07-29' },
      evidence: { test: [SUITE, 'of a table pages by sys_id, with attachments and without drafts'] },
    },
    {
      aspect: 'paging',
      statement:
        'An error in the middle of a list was logged and ignored: the files that the partial list lacked were deleted.',
      ...{ link: 'https://github.com/pipeshub-ai/pipeshub-ai/issues/3095', date: '2026-08-27' },
      evidence: { test: [SUITE, 'never counts as the end of a list'] },
    },
    {
      aspect: 'paging',
      statement: 'Pages of 8,000 records arrive with cut JSON.',
      ...{ link: 'https://github.com/insomniacc/PSSnow/issues/67', date: '2026-02-27' },
      evidence: { reason: 'A page has 100 records.', file: 'connectors/serviceNow/tables.ts' },
    },
    {
      aspect: 'listing',
      statement: 'Attachments have the table of the record itself, not that through which the record was found.',
      ...{ link: 'https://github.com/Snow-Shell/servicenow-powershell/pull/189', date: '2022-05-16' },
      evidence: {
        test: [SUITE, 'contains attachments of records whose own table extends the listed one, but no embedded images'],
        fixed: true,
      },
    },
    {
      aspect: 'listing',
      statement: 'An id from a caller that contains query operators extends the query to other records.',
      ...{ link: 'https://github.com/NangoHQ/integration-templates/pull/582', date: '2026-07-14' },
      evidence: {
        test: [SUITE, 'is not found for missing, unlisted or wrongly nested items, and unsupported for tables'],
      },
    },
    {
      aspect: 'changes',
      statement: 'Times in queries are in the time zone of the user, which the API does not always return.',
      ...{ link: 'https://github.com/ansible-collections/servicenow.itsm/pull/517', date: '2025-11-10' },
      evidence: {
        reason: 'Queries overlap by more than the largest difference between time zones.',
        file: 'connectors/serviceNow/changes.ts',
      },
    },
    {
      aspect: 'formats',
      statement: 'A hibernating or misconfigured instance answers 200 with a web page.',
      ...{ link: 'https://github.com/locaweb/python-servicenow/issues/23', date: '2015-11-12' },
      evidence: { test: [SUITE, 'never replaces content, and neither does the page of a hibernating instance'] },
    },
  ],
};
