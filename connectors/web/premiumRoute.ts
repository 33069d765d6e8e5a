import type { Egress } from '../../egress/types.js';
import type { Robots } from './robots.js';

/** A route to a site, with the robots.txt that the site serves on that route. */
export interface SiteRoute {
  readonly egress: Egress;
  readonly robots: Robots;
}

/** Returns an egress that sends every request through the premium proxies; null if none are configured. */
export function throughPremiumProxies(egress: Egress): Egress | null {
  if (!egress.hasPremiumProxies) return null;
  return {
    ...egress,
    request: (request) => egress.request({ ...request, route: 'premium_proxy' }),
    openProxy: (options) => egress.openProxy({ ...options, route: 'premium_proxy' }),
  };
}
