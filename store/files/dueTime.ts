import { DAY_MS, DEFAULT_HOT_DAYS, MAX_HOT_DAYS } from '../../contract/files/coldStorage.js';

/**
 * Returns the pipeline that sets the due time as if the file had just been used. MongoDB computes what hotMs() computes
 * for one file.
 */
export const asIfUsed = (now: Date) => {
  const days = { $min: [{ $ifNull: ['$hotStorageTimeToLive', DEFAULT_HOT_DAYS] }, MAX_HOT_DAYS] };
  return [{ $set: { coolsAt: { $add: [now, { $multiply: [days, DAY_MS] }] } } }];
};
