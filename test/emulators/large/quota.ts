/** Published quotas of providers, enforced on the virtual time that each request carries. */
import type { Call } from '../emulator.js';

/** Header with the virtual time of a request, in milliseconds since 1970. */
export const TIME_HEADER = 'x-virtual-time';

/** A limit: at most `max` units within any period of `perMs` milliseconds. */
export interface Limit {
  readonly name: string;
  readonly max: number;
  readonly perMs: number;
  /** Address of the page that documents the limit. */
  readonly page: string;
  /** Whether refused requests count. Unset: they do not. */
  readonly countsRefused?: true;
  /** Returns the units of a request; 0: the limit does not apply to it. */
  unitsOf(call: Call): number;
}

export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The units used of one limit: the requests of its last period with their times and units, oldest first. */
class Use {
  readonly #limit: Limit;
  #entries: { readonly at: number; readonly units: number }[] = [];
  #used = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Returns the milliseconds until a request with these units is within the limit; 0: it already is. */
  waitMs(units: number, now: number): number {
    const { max: maxUnits, perMs } = this.#limit;
    const firstCurrent = this.#entries.findIndex(({ at }) => at > now - perMs);
    for (const { units: freed } of this.#entries.splice(0, firstCurrent < 0 ? this.#entries.length : firstCurrent))
      this.#used -= freed;
    let used = this.#used;
    for (const { at, units: freed } of this.#entries) {
      if (used + units <= maxUnits) return 0;
      used -= freed;
      if (used + units <= maxUnits) return at + perMs - now;
    }
    return 0;
  }

  add(units: number, at: number): void {
    this.#used += units;
    this.#entries.push({ at, units });
  }
}

/** The quota of an account: counts all requests, and refuses those that exceed a limit. */
export class Quota<Refusal> {
  /** Admitted requests. */
  calls = 0;
  /** Refused requests. */
  refused = 0;
  /** Virtual time of the latest request. */
  latest = 0;
  /** Called after each request with the number of all requests so far. */
  onRequest: (number: number) => void = () => undefined;
  readonly #uses: readonly (readonly [Limit, Use])[];
  readonly #refusalOf: (limit: Limit, waitMs: number) => Refusal;

  /** @param refusalOf returns the provider's refusal of a request that exceeds a limit */
  constructor(limits: readonly Limit[], refusalOf: (limit: Limit, waitMs: number) => Refusal) {
    this.#uses = limits.map((limit) => [limit, new Use(limit)]);
    this.#refusalOf = refusalOf;
  }

  /** Counts a request. Returns its refusal; null if it is within all limits. */
  take(call: Call): Refusal | null {
    const now = Number(call.request.headers[TIME_HEADER]);
    if (!Number.isFinite(now)) throw new Error(`The request has no ${TIME_HEADER}`);
    this.latest = Math.max(this.latest, now);
    const charged = this.#uses.flatMap(([limit, use]) => {
      const units = limit.unitsOf(call);
      return units === 0 ? [] : [{ limit, use, units, waitMs: use.waitMs(units, now) }];
    });
    const exceeded = charged.toSorted((a, b) => b.waitMs - a.waitMs)[0];
    const isRefused = exceeded !== undefined && exceeded.waitMs > 0;
    if (isRefused) this.refused += 1;
    else this.calls += 1;
    for (const { limit, use, units } of charged) if (!isRefused || limit.countsRefused) use.add(units, now);
    this.onRequest(this.calls + this.refused);
    return isRefused ? this.#refusalOf(exceeded.limit, exceeded.waitMs) : null;
  }
}

/** Returns Retry-After in whole seconds, as providers send it. */
export const retryAfter = (waitMs: number): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.ceil(waitMs / 1000)),
});
