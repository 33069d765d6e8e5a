import {
  ALL_CONNECTORS,
  exportsDocuments,
  isConnectedSource,
  isOfAccount,
} from '../../contract/sources/connectedSources.js';
import type { FileDoc } from '../../store/models/files.js';
import type { ActivityDeps, OpenedContent } from '../deps.js';
import { withAccount } from './openAccount.js';

/** Whether a file's content is in a connected account. */
export const isConnected = ({ source, dataSourceId }: FileDoc): boolean => dataSourceId !== null && isOfAccount(source);

/** The document format that the file's organization chose, for sources that export several; null: not set. */
async function savedAs({ source, organizationId }: FileDoc, { store }: ActivityDeps): Promise<string | null> {
  if (!isConnectedSource(source) || !exportsDocuments(source)) return null;
  const { connectorSettings } = await store.organizations.findRecord(organizationId);
  const settingOf = (key: string): string | null => connectorSettings?.[key]?.google_workspace_docs_save_as ?? null;
  return settingOf(source) ?? settingOf(ALL_CONNECTORS);
}

/** Opens the content of a file in a connected account. @throws Fault */
export function openItem(file: FileDoc, deps: ActivityDeps, signal: AbortSignal): Promise<OpenedContent> {
  return withAccount(file, file.dataSourceId ?? 0, deps, async ({ account }) => {
    const saveAs = await savedAs(file, deps);
    const options = { saveAs, version: file.listedVersion ?? null };
    const { format, name, plain, fileMetadata, ...content } = await account.open(file.externalFileId, signal, options);
    return {
      ...content,
      fileMetadata,
      ...(file.options.parsedTextFormat === 'MARKDOWN' ? {} : plain),
      format: format ?? '',
      html: { tags: [], classes: [], selectors: [] },
      validators: { etag: null, lastModified: null },
      ...(format === null ? {} : { recordedFormat: format }),
      ...(name === null ? {} : { name }),
    };
  });
}
