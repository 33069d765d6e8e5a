/** Ids and task queue of one deployment in Temporal. */
export interface TemporalNames {
  readonly deploymentId: string;
  readonly taskQueue: string;
  /** Returns the id in Temporal of a workflow or schedule of this deployment. */
  idOf(key: string): string;
  /** Returns the key for an id of this deployment; null for any other id. */
  keyOf(id: string): string | null;
}

/**
 * Returns the names under which a deployment appears in Temporal. Every workflow id, schedule id and task queue
 * contains the deployment id. Without it, deployments could not share a namespace: their file and run ids, and often
 * TASK_QUEUE, are equal. Records store keys (`workflowIds`, `scheduleIds`) without it, so a database stays valid under
 * a new deployment id.
 * @param taskQueue TASK_QUEUE
 */
export function temporalNames(deploymentId: string, taskQueue: string): TemporalNames {
  const prefix = `${deploymentId}:`;
  return {
    deploymentId,
    taskQueue: `${taskQueue}-${deploymentId}`,
    idOf: (key) => prefix + key,
    keyOf: (id) => (id.startsWith(prefix) ? id.slice(prefix.length) : null),
  };
}
