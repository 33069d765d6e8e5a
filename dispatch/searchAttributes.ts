import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';

import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contract/runs/orchestration.js';

/** Returns the ids by which operators search in Temporal's Web UI; absent ids are omitted. */
export function searchAttributes(
  ids: Readonly<Partial<Record<SearchAttributeName, string | undefined>>>,
): TypedSearchAttributes {
  return new TypedSearchAttributes(
    SEARCH_ATTRIBUTES.flatMap((name) => {
      const value = ids[name];
      return value === undefined ? [] : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value }];
    }),
  );
}
