/**
 * What the processes of a deployment agree on about each host they call, or each account they are connected to, so that
 * all of them together stay polite. The store keeps it; connectors live by it.
 */
export interface HostTurns {
  /**
   * Asks for a share of the requests that may be under way at a host at once, or renews it. The shares of all workers
   * never add up to more than `cap`, as long as each uses at most what it was told.
   */
  share(request: ShareRequest): Promise<HostShare>;
  /** Ends a share at once; without it, it ends by itself. */
  giveBack(host: string, holder: string): Promise<void>;
  /**
   * Claims the next start at a host where starts must be `intervalMs` apart.
   * @returns 0 when it is the caller's; else the milliseconds after which to ask again
   */
  claimStart(host: string, intervalMs: number): Promise<number>;
  /** The host wants no request for so long; an earlier, longer pause stays. Whoever shares its turns hears of it. */
  pause(host: string, forMs: number): Promise<void>;
  /** For how long the host wants no request; changes nothing. */
  pausedMs(host: string): Promise<number>;
}

export interface ShareRequest {
  readonly host: string;
  /** One for each share: never used again once it is given back. */
  readonly holder: string;
  /** Requests to the host at once, over all workers. */
  readonly cap: number;
  /** What the holder may have under way until it hears the answer; the share does not fall below. */
  readonly atMost: number;
}

export interface HostShare {
  readonly slots: number;
  /** What a fair share would be now. Below `slots`: others wait; use no more and renew soon. */
  readonly fair: number;
  /** Counted from the moment of asking. */
  readonly leaseMs: number;
  /** For how long the host wants no request, counted likewise. */
  readonly pausedMs: number;
}
