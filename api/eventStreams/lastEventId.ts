import Joi from 'joi';

import type { EitherCaller } from '../http/operation.js';

/** Query of streams: clients that cannot send the header Last-Event-ID send its value here. */
export const lastEventIdQuery = Joi.object({
  last_event_id: Joi.string()
    .allow('')
    .max(64)
    .description(
      'Same as the header `Last-Event-ID`, for EventSource polyfills that cannot send it. The header takes precedence. Default: none.',
    ),
});

/** Returns a name under which the streams of a caller are counted together. */
export const callerName = (caller: EitherCaller): string =>
  'userId' in caller ? `${caller.organizationId}:${caller.userId}` : String(caller.organizationId);
