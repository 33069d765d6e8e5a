import Joi from 'joi';

import {
  ALL_SOURCES,
  AUTO_SYNC_INTERVALS,
  type CustomLimits,
  LIMIT_NAMES,
  type LimitName,
} from '../../contract/limits.js';
import { type SourceType } from '../../contract/sources/sources.js';
import { integer, orNull } from './fields.js';
import { type Shape, typed } from './inferred.js';
import { named } from './reference.js';
import { sourceType } from './enums.js';

const limit = (what: string) =>
  orNull(integer().min(-1)).description(
    `${what} Absent and null: no change. \`-1\`: unlimited; for a user, this also lifts the limit of the organization.`,
  );

const limits = () =>
  ({
    max_files: limit(
      'Maximum number of files with content of one user. Further files wait as DELAYED until files are deleted or the limit is raised.',
    ),
    max_files_per_upload: limit(
      'Maximum number of files of one scrape, or of one request that syncs items of an account. The scrape or sync ends at this number. `file_metadata.limit_reached` of the parent file of a scrape names the limit.',
    ),
    max_characters: limit(
      'Maximum number of characters in all files of one user. Further files wait as DELAYED until files are deleted or the limit is raised.',
    ),
    max_characters_per_file: limit(
      'Maximum number of characters in the extracted text of one file. A longer file ends in SYNC_ERROR.',
    ),
    max_characters_per_upload: limit(
      'Maximum number of characters in the files of one upload, one scrape, or one request that syncs items of an account. Files beyond it end in SYNC_ERROR.',
    ),
  }) satisfies Record<LimitName, Joi.Schema>;

/** Returns the fields with settings of users: automatic sync and limits. Absent and null change nothing. */
export const userSettings = () => ({
  auto_sync_enabled_sources: orNull(
    typed<SourceType[] | typeof ALL_SOURCES>(
      Joi.alternatives().conditional(Joi.string(), {
        then: named(
          'DataSourceExtendedInput',
          Joi.string()
            .valid(ALL_SOURCES)
            .description('Every source that supports automatic sync, instead of a list of sources.'),
        ),
        otherwise: Joi.array().items(sourceType()),
      }),
    ),
  ).description(
    "Sources whose accounts are synced automatically, or `ALL`. A user's own list replaces that of the organization, also if it is empty. Absent and null: no change.",
  ),
  auto_sync_interval: orNull(integer().valid(-1, ...AUTO_SYNC_INTERVALS)).description(
    'Hours between two automatic syncs: 3, 6, 12 or 24. `-1`: not set, so that the value of the organization applies, or 24 if it has none. Absent and null: no change.',
  ),
  ...limits(),
});

export type UserSettingsBody = Shape<ReturnType<typeof userSettings>>;

/** Returns the limits in a body, and the interval of automatic sync. */
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
