import { FILE_SYNC_STATUSES } from '../../../contract/files/statuses.js';
import type { StorageOverview } from '../../../store/overview/storage.js';
import { html, type Html } from '../../http/answers/html.js';
import { unavailable, bytes, card, count, words } from './components.js';

/** Renders totals of files, contents, chunks and vectors. */
export function storageCard(storage: StorageOverview | null): Html {
  if (!storage) return card('Storage', '', unavailable());
  const { files, chunks, points, coldFiles, coldBytes, coldPoints, warmingFiles } = storage;
  const total = FILE_SYNC_STATUSES.reduce((sum, status) => sum + files[status], 0);
  const figure = (name: string, value: string, more = ''): Html =>
    html`<div>
      <dt>${name}</dt>
      <dd>${value} <span class="soft small">${more}</span></dd>
    </div>`;
  const byStatus = FILE_SYNC_STATUSES.filter((status) => files[status] > 0)
    .map((status) => `${count(files[status])} ${words(status)}`)
    .join(' · ');
  const hotPoints = points?.reduce((sum, space) => sum + space.points, 0) ?? 0;
  return card(
    'Storage',
    'cached for a few seconds',
    html`<dl>
      ${figure('Files', count(total), byStatus)} ${figure('Contents', bytes(storage.bytes), 'as received')}
      ${figure('Chunks', count(chunks))}
      ${
        points === null
          ? figure('Points', 'unknown', 'Qdrant does not answer')
          : figure(
              'Points in Qdrant',
              count(hotPoints),
              points
                .filter((point) => point.points > 0)
                .map((point) => `${count(point.points)} ${point.space}`)
                .join(' · '),
            )
      }
      ${figure('Cold storage', `${count(coldFiles)} files`, `${count(coldPoints)} points · ${bytes(coldBytes)}${warmingFiles > 0 ? ` · ${count(warmingFiles)} being restored` : ''}`)}
    </dl>`,
  );
}
