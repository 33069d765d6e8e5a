import { Client, Connection } from '@temporalio/client';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
}

/** A client that connects at its first call and again whenever Temporal comes back: the service starts without Temporal. */
export function createTemporalClient(settings: TemporalSettings): Client {
  const connection = Connection.lazy({ address: settings.address, connectTimeout: '5 seconds' });
  return new Client({ connection, namespace: settings.namespace });
}
