/**
 * Rate limits per host or connected account that all processes of a deployment share. Implemented by the store, used by
 * connectors.
 */
export interface HostRateLimits {
  /**
   * Acquires or renews a share of the concurrent requests to a host. The shares of all workers never add up to more than
   * `cap`, as long as each worker stays within its share.
   */
  acquire(request: ShareRequest): Promise<HostShare>;
  /** Releases a share immediately; otherwise it expires. */
  release(host: string, holder: string): Promise<void>;
  /**
   * Reserves the next request at a host whose requests must be `intervalMs` apart.
   * @returns 0 if reserved, else the milliseconds after which to try again
   */
  reserveRequest(host: string, intervalMs: number): Promise<number>;
  /**
   * Pauses the host for a time in milliseconds. A longer existing pause stays. Each worker receives the pause with its
   * next share (`pausedMs`).
   */
  pause(host: string, forMs: number): Promise<void>;
  /** Returns the milliseconds until the pause of the host ends. Changes nothing. */
  pausedMs(host: string): Promise<number>;
}

export interface ShareRequest {
  readonly host: string;
  /** Unique id of the share; never reused after its release. */
  readonly holder: string;
  /** Maximum number of concurrent requests to the host, over all workers. */
  readonly cap: number;
  /**
   * Number of requests that the holder may still have open when it receives the share. The share is not reduced below
   * this number.
   */
  readonly minSlots: number;
}

export interface HostShare {
  readonly slots: number;
  /** The current fair share. If it is below `slots`, other workers wait: use at most `fair` slots and renew soon. */
  readonly fair: number;
  /** Lifetime of the share in milliseconds, from the time of the request. */
  readonly leaseMs: number;
  /** Milliseconds until the pause of the host ends, from the time of the request. */
  readonly pausedMs: number;
}
