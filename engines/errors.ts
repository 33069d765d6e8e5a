import { StartError } from '../contract/startError.js';

/** An engine that cannot be had or started. Its message says what was tried and what to do, for a person to read. */
export class EngineError extends StartError {
  override readonly name = 'EngineError';
}

/** What helps whatever the embedded engine's trouble is: not needing it. */
export const USE_SERVERS_INSTEAD =
  'or give addresses of running servers (TEMPORAL_ADDRESS, MONGODB_URI, QDRANT_URL), or run docker compose';
