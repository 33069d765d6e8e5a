import type { Egress } from '../../egress/types.js';
import type { HostLimiter } from '../hostLimiter.js';
import type { FeedSource } from '../types.js';
import { type FeedSettings, readFeed } from './readFeed.js';

export interface FeedSourceOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly settings: FeedSettings;
  /** Slots per host. */
  readonly limiter: Pick<HostLimiter, 'enter'>;
  readonly now?: () => number;
}

/**
 * Creates the source for feeds. robots.txt is not checked: feeds are published for programs, and a user requested
 * this feed.
 */
export function createFeedSource({ egress, settings, limiter, now = Date.now }: FeedSourceOptions): FeedSource {
  return {
    async readFeed(request) {
      const leave = await limiter.enter(new URL(request.url).host, 0, request.signal);
      try {
        return await readFeed(egress, settings, now, request);
      } finally {
        leave();
      }
    },
  };
}
