import type { SourceItem } from '../../connectors/sourceItem.js';

/** Returns a folder as a connector lists it. Its name is its id. */
export const folderItem = (externalId: string): SourceItem => ({
  ...{ externalId, parentExternalId: null, rootExternalId: null, name: externalId, externalUrl: null },
  ...{ itemType: 'FOLDER', fileFormat: null, isSelectable: true, isExpandable: true, hasContent: false },
  ...{ createdAt: null, version: null },
});
