import type { Egress } from '../../egress/types.js';
import type { Robots } from './robots.js';

/** One of the ways to a site, with what its robots.txt says to a visitor who comes that way. */
export interface WayOut {
  readonly egress: Egress;
  readonly robots: Robots;
}

/** An egress whose every request leaves through the operator's second pool; null when there is none. */
export function throughPremiumProxies(egress: Egress): Egress | null {
  if (!egress.hasPremiumProxies) return null;
  return {
    ...egress,
    request: (request) => egress.request({ ...request, way: 'premium_proxy' }),
    openProxy: (options) => egress.openProxy({ ...options, way: 'premium_proxy' }),
  };
}
