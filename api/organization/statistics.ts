import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../contract/orchestration.js';
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
  summary: "Starts a recount of the organization's files.",
  description: [],
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
