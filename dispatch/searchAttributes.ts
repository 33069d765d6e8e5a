import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';

import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contract/orchestration.js';

/** The ids by which operators find something in Temporal's Web UI; what has none is left out. */
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
