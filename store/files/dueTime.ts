import { DAY_MS, DEFAULT_HOT_DAYS, MAX_HOT_DAYS } from '../../contract/files/coldStorage.js';

/**
 * Returns the update pipeline that sets `coolsAt`, the time from which vectors may move to cold storage, as if the
 * files had just been used. MongoDB computes what hotMs() computes for one file.
 */
export const asIfUsed = (now: Date) => {
  const days = { $min: [{ $ifNull: ['$hotStorageTimeToLive', DEFAULT_HOT_DAYS] }, MAX_HOT_DAYS] };
  return [{ $set: { coolsAt: { $add: [now, { $multiply: [days, DAY_MS] }] } } }];
};
