/** Limits of a user or an organization: the wire's names of `custom_limits`. */
export const LIMIT_NAMES = [
  'max_files',
  'max_files_per_upload',
  'max_characters',
  'max_characters_per_file',
  'max_characters_per_upload',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Says that there is no limit, also where the organization has one. */
const UNLIMITED = -1;

/** Hours between automatic syncs that may be chosen. */
export const AUTO_SYNC_INTERVALS = [3, 6, 12, 24] as const;

/** What was set for a user, or for an organization's users without own values. What was never set is absent. */
export type CustomLimits = Partial<Record<LimitName | 'auto_sync_interval', number>>;

/** What holds for a user: null is no limit. */
export type EffectiveLimits = Readonly<Record<LimitName, number | null>>;

/** The user's own values, else the organization's, else none. */
export function effectiveLimits(user: CustomLimits, organization: CustomLimits): EffectiveLimits {
  const of = (name: LimitName): number | null => {
    const value = user[name] ?? organization[name] ?? UNLIMITED;
    return value === UNLIMITED ? null : value;
  };
  return {
    max_files: of('max_files'),
    max_files_per_upload: of('max_files_per_upload'),
    max_characters: of('max_characters'),
    max_characters_per_file: of('max_characters_per_file'),
    max_characters_per_upload: of('max_characters_per_upload'),
  };
}

/** The fact of a parent whose run found more files than one upload may have. */
export const LIMIT_FACT = { limit_reached: 'max_files_per_upload' satisfies LimitName } as const;
/** The fact of a parent whose list is longer than this deployment takes at once. */
export const CAP_FACT = { limit_reached: 'MAX_PAGES_PER_SCRAPE' } as const;
/** Takes such a fact of an earlier run away. */
export const NO_LIMIT_FACT = { limit_reached: null } as const;

/** Stands for every source that can be synced by itself. */
export const ALL_SOURCES = 'ALL';
