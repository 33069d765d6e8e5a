import { describe, expect, test } from '@jest/globals';

import { SUPPLIED_CREDENTIALS } from '../../api/integrations/suppliedCredentials.js';
import { CONNECT_CREDENTIALS } from '../../contract/accounts/connectCredentials.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../contract/sources/connectedSources.js';
import { OPTION_SOURCES, supportsOption, SOURCE_TYPES, type SourceType } from '../../contract/sources/sources.js';

/** The sources that honour each option, as the public contract lists them. All other sources ignore the option. */
const AS_WRITTEN = {
  sync_files_on_connection: 'INTERCOM, ZENDESK, GITBOOK, CONFLUENCE, SALESFORCE, FRESHDESK',
  enable_file_picker: 'BOX, DROPBOX, GOOGLE_DRIVE, ONEDRIVE, SHAREPOINT',
  automatically_open_file_picker: 'BOX, DROPBOX, GOOGLE_DRIVE, ONEDRIVE, SHAREPOINT',
  incremental_sync:
    'ONEDRIVE, GOOGLE_DRIVE, BOX, DROPBOX, INTERCOM, GMAIL, OUTLOOK, ZENDESK, CONFLUENCE, NOTION, SHAREPOINT, SERVICENOW',
} as const;

describe('options that only some sources honour', () => {
  test('are those that the public contract lists', () => {
    expect(Object.keys(OPTION_SOURCES)).toEqual(Object.keys(AS_WRITTEN));
  });
  test.each(Object.entries(AS_WRITTEN) as [keyof typeof AS_WRITTEN, string][])(
    'are honoured by the listed sources: %s',
    (option, sources) => {
      expect(SOURCE_TYPES.filter((source) => supportsOption(source, option)).toSorted()).toEqual(
        sources.split(', ').toSorted(),
      );
    },
  );
});

test('lists complete base addresses without a trailing slash for each connected source', () => {
  for (const { urls } of Object.values(CONNECTED_SOURCES))
    for (const url of Object.values(urls))
      expect(url).toMatch(/^https:\/\/(\{\w+\}|(\{\w+\}\.)?[a-z0-9.-]+)(\/([\w.-]+|\{\w+\}))*$/);
});

test('SUPPLIED_CREDENTIALS contains exactly the sources of CONNECT_CREDENTIALS that are connected without OAuth', () => {
  const withToken = (Object.keys(CONNECT_CREDENTIALS) as SourceType[]).filter(
    (source) => isConnectedSource(source) && CONNECTED_SOURCES[source].auth === 'token',
  );
  const taken = Object.keys(SUPPLIED_CREDENTIALS);
  expect({
    'needs a line in SUPPLIED_CREDENTIALS': withToken.filter((source) => !taken.includes(source)),
    'needs a row in CONNECT_CREDENTIALS': taken.filter((source) => !(withToken as string[]).includes(source)),
  }).toEqual({ 'needs a line in SUPPLIED_CREDENTIALS': [], 'needs a row in CONNECT_CREDENTIALS': [] });
});
