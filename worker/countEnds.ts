import type { Metrics } from '../observability/metrics.js';
import type { Store } from '../store/connect.js';

/**
 * The store, counting the files whose sync it ends and the tries to deliver events. A change whose answer was lost and
 * that is made again counts twice.
 */
export function countEnds(store: Store, metrics: Pick<Metrics, 'filesEnded' | 'webhookTry'>): Store {
  const { files, deliveries } = store;
  return {
    ...store,
    deliveries: {
      ...deliveries,
      async record(webhook, outcomes) {
        await deliveries.record(webhook, outcomes);
        for (const { attempt, status, event } of outcomes) {
          if (!attempt) continue;
          const isDelivered = status === 'DELIVERED';
          const outcome = isDelivered ? 'delivered' : status === 'FAILED' ? 'given_up' : 'failed';
          metrics.webhookTry(outcome, isDelivered ? (Date.now() - event.at.getTime()) / 1000 : null);
        }
      },
    },
    // Whatever else they are given is handed on.
    files: {
      ...files,
      async finish(...all) {
        const ended = await files.finish(...all);
        metrics.filesEnded('READY', ended.length);
        return ended;
      },
      async keep(kept, ...more) {
        await files.keep(kept, ...more);
        metrics.filesEnded('READY', kept.length);
      },
      async shelve(...all) {
        const ended = await files.shelve(...all);
        metrics.filesEnded('READY_TO_SYNC', Number(ended));
        return ended;
      },
      async fail(...all) {
        const ended = await files.fail(...all);
        metrics.filesEnded('SYNC_ERROR', Number(ended));
        return ended;
      },
      async abortOpen(...all) {
        const ended = await files.abortOpen(...all);
        metrics.filesEnded('SYNC_ABORTED', ended);
        return ended;
      },
    },
  };
}
