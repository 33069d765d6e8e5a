import { isConnectedSource } from '../../contract/sources.js';
import type { FileDoc } from '../../store/files/model.js';
import type { ActivityDeps, OpenedContent } from '../deps.js';
import { withAccount } from './openAccount.js';

/** Whether a file's content lies in a connected account. */
export const isConnected = ({ source, dataSourceId }: FileDoc): boolean =>
  dataSourceId !== null && isConnectedSource(source);

/** Opens the content of a file that lies in a connected account. @throws Fault */
export function openItem(file: FileDoc, deps: ActivityDeps, signal: AbortSignal): Promise<OpenedContent> {
  return withAccount(file, file.dataSourceId ?? 0, deps, async ({ account }) => {
    const { format, name, ...content } = await account.open(file.externalFileId, signal);
    return {
      ...content,
      format: format ?? '',
      html: { tags: [], classes: [], selectors: [] },
      validators: { etag: null, lastModified: null },
      ...(format === null ? {} : { recordedFormat: format }),
      ...(name === null ? {} : { name }),
    };
  });
}
