import { expect, test } from '@jest/globals';

import { isChosenByType, type Typed, TYPES_AT_SOURCE } from '../../contract/sources/typesAtSource.js';

const page: Typed = {};
const incident: Typed = { typeAtSource: 'INCIDENT' };
const table: Typed = { typeAtSource: 'TABLE' };
const attachment: Typed = { typeAtSource: 'ATTACHMENT', attachedTo: 'INCIDENT' };
/** An attachment of a helpdesk ticket. The source has no type name for attachments. */
const picture: Typed = { attachedTo: 'TICKET' };

const selectedItems = (autoSyncedSourceTypes: readonly string[] | undefined, syncAttachments: boolean): string[] =>
  Object.entries({ page, incident, table, attachment, picture }).flatMap(([name, item]) =>
    isChosenByType(item, { ...(autoSyncedSourceTypes ? { autoSyncedSourceTypes } : {}), syncAttachments })
      ? [name]
      : [],
  );

test.each([
  [undefined, false, ['page', 'incident', 'table']],
  [undefined, true, ['page', 'incident', 'table', 'attachment', 'picture']],
  [[], false, ['page']],
  [[], true, ['page']],
  [['INCIDENT'], false, ['page', 'incident']],
  [['INCIDENT'], true, ['page', 'incident', 'attachment']],
  [['TABLE'], true, ['page', 'table']],
  [['ATTACHMENT'], false, ['page', 'attachment']],
  [['ATTACHMENT', 'TABLE'], false, ['page', 'table', 'attachment']],
  [['TICKET'], true, ['page', 'picture']],
  [TYPES_AT_SOURCE, false, ['page', 'incident', 'table', 'attachment']],
])('with autoSyncedSourceTypes %j and syncAttachments %s, chooses %j', (types, attachments, names) => {
  expect(selectedItems(types, attachments)).toEqual(names);
});
