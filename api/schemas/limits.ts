import Joi from 'joi';

import { ALL_SOURCES, AUTO_SYNC_INTERVALS, type CustomLimits, LIMIT_NAMES } from '../../contract/limits.js';
import { type SourceType } from '../../contract/sources.js';
import { byName, integer, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { named } from './reference.js';
import { sourceType } from './enums.js';

/** Limits of users: absent and null change nothing, -1 removes a limit. */
export const userSettings = () => ({
  auto_sync_enabled_sources: orNull(
    typed<SourceType[] | typeof ALL_SOURCES>(
      Joi.alternatives().conditional(Joi.string(), {
        then: named('DataSourceExtendedInput', Joi.string().valid(ALL_SOURCES)),
        otherwise: Joi.array().items(sourceType()),
      }),
    ),
  ),
  auto_sync_interval: orNull(integer().valid(-1, ...AUTO_SYNC_INTERVALS)),
  ...byName(LIMIT_NAMES, () => orNull(integer().min(-1))),
});

export type UserSettingsBody = Shape<ReturnType<typeof userSettings>>;

/** Returns the limits in a body. */
export function toLimits(body: UserSettingsBody): CustomLimits {
  const names = [...LIMIT_NAMES, 'auto_sync_interval'] as const;
  return Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** Returns the sources in a body as they are stored; undefined if they do not change. */
export function toSources({ auto_sync_enabled_sources: sources }: UserSettingsBody): string[] | undefined {
  return sources === undefined ? undefined : [...new Set([sources].flat())];
}

/** Returns whether a body changes which sources are synced automatically, or when. */
export const changesAutoSync = (body: UserSettingsBody): boolean =>
  body.auto_sync_enabled_sources !== undefined || body.auto_sync_interval !== undefined;
