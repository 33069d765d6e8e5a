import { CONNECTED_SOURCES, type ConnectedSourceType } from '../contract/sources/connectedSources.js';

/** The URLs of each connected source, by the part names in its row. */
export type SourceUrls = {
  readonly [Source in ConnectedSourceType]: Readonly<Record<keyof (typeof CONNECTED_SOURCES)[Source]['urls'], string>>;
};

const isAddress = (text: string): boolean => {
  try {
    const { protocol, search, hash } = new URL(text);
    return /^https?:$/.test(protocol) && search === '' && hash === '';
  } catch {
    return false;
  }
};

/**
 * Returns the URLs of all sources, with replacements from `SOURCE.part=URL`.
 * @throws Error with the expected form if an entry is invalid
 */
export function readSourceUrls(text: string): SourceUrls {
  const urls: Record<string, Record<string, string>> = Object.fromEntries(
    Object.entries(CONNECTED_SOURCES).map(([source, row]) => [source, { ...row.urls }]),
  );
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue;
    const [, source = '', part = '', address = ''] = /^(\w+)\.(\w+)=(.+)$/.exec(pair) ?? [];
    const row = Object.hasOwn(urls, source) ? urls[source] : undefined;
    if (!row || !Object.hasOwn(row, part) || !isAddress(address))
      throw new Error('takes comma-separated entries such as GITBOOK.api=https://gitbook.example/v1');
    row[part] = address.replace(/\/+$/, '');
  }
  return urls as SourceUrls;
}
