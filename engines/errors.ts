import { StartError } from '../contract/startError.js';

/** Thrown if an engine could not be obtained or started. The message states what was tried and what to do next. */
export class EngineError extends StartError {
  override readonly name = 'EngineError';
}

/** The alternative to an embedded engine that does not work. */
export const USE_SERVERS_INSTEAD =
  'or give addresses of running servers (TEMPORAL_ADDRESS, MONGODB_URI, QDRANT_URL), or run docker compose';
