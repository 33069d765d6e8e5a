/** Limits of a user or an organization: field names of `custom_limits`. */
export const LIMIT_NAMES = [
  'max_files',
  'max_files_per_upload',
  'max_characters',
  'max_characters_per_file',
  'max_characters_per_upload',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Disables a limit, including the organization's. */
const UNLIMITED = -1;

/** Allowed hours between automatic syncs. */
export const AUTO_SYNC_INTERVALS = [3, 6, 12, 24] as const;

/** Limits of one user, or of an organization for each user without a value. Unset limits are absent. */
export type CustomLimits = Partial<Record<LimitName | 'auto_sync_interval', number>>;

/** The limits that apply to a user; null means unlimited. */
export type EffectiveLimits = Readonly<Record<LimitName, number | null>>;

/** Returns the user's values, otherwise the organization's; null if neither has one, or it is UNLIMITED. */
export function effectiveLimits(user: CustomLimits, organization: CustomLimits): EffectiveLimits {
  const limitOf = (name: LimitName): number | null => {
    const value = user[name] ?? organization[name] ?? UNLIMITED;
    return value === UNLIMITED ? null : value;
  };
  return {
    max_files: limitOf('max_files'),
    max_files_per_upload: limitOf('max_files_per_upload'),
    max_characters: limitOf('max_characters'),
    max_characters_per_file: limitOf('max_characters_per_file'),
    max_characters_per_upload: limitOf('max_characters_per_upload'),
  };
}

/** Metadata of a parent whose run found more files than one upload may contain. */
export const LIMIT_METADATA = { limit_reached: 'max_files_per_upload' satisfies LimitName } as const;
/** Metadata of the parent of a scrape that found more pages than MAX_PAGES_PER_SCRAPE, a setting, allows. */
export const CAP_METADATA = { limit_reached: 'MAX_PAGES_PER_SCRAPE' } as const;
/** Removes `limit_reached` of an earlier run. */
export const NO_LIMIT_METADATA = { limit_reached: null } as const;

/** All sources that support automatic sync. */
export const ALL_SOURCES = 'ALL';
