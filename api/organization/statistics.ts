import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import { operation } from '../http/operation.js';
import { success } from '../schemas/answers.js';

/**
 * POST /organization/statistics: recomputes the totals over all files; GET /organization returns them once they are
 * ready.
 */
export const organizationStatistics = operation({
  method: 'post',
  path: '/organization/statistics',
  operationId: 'update_organization_statistics_organization_statistics_post',
  tag: 'Organizations',
  auth: 'key',
  summary: 'Recount files',
  description: [
    'Starts a run that sums size, characters, tokens and vectors over all files of the organization. Use it before you read the totals of `GET /organization`, which are not updated otherwise. Once the new totals are stored, the event FILE_STATISTICS_AGGREGATED is sent, and `file_statistics_aggregated_at` of `GET /organization` has their time.',
  ],
  returns:
    '`success: true`: a run now aggregates the statistics of all files. The event FILE_STATISTICS_AGGREGATED reports that the totals are stored.',
  createsWork: true,
  answer: success,
  async handle({ caller: { organizationId }, deps: { store, unit } }) {
    const runId = await store.runs.nextId();
    const run = {
      kind: 'recountFiles',
      workflowId: workflowIds.recount(organizationId),
      owner: { organizationId, userId: 0, customerId: '' },
      fileId: null,
      requestId: randomUUID(),
    } as const;
    await unit.transaction((session) => store.runs.accept(runId, run, session));
    unit.start(runId);
    return { success: true };
  },
});
