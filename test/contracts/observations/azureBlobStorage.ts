import type { SourceObservations } from './observation.js';

const SUITE = 'test/connectors/azureBlobStorage.test.ts';

export const azureBlobStorage: SourceObservations = {
  source: 'Azure Blob Storage',
  observations: [
    {
      aspect: 'paging',
      statement: 'A page may have a marker but no blob: only a page without a marker is the last.',
      ...{ link: 'https://github.com/MicrosoftDocs/feedback/issues/3060', date: '2020-08-27' },
      evidence: {
        test: [SUITE, 'continues after a page without blobs, also when it looks up a single blob'],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement: 'Empty pages with a marker came for hours during a long listing; Microsoft calls that expected.',
      ...{ link: 'https://github.com/Azure/azure-storage-net/issues/612', date: '2018-01-25' },
      evidence: {
        test: [SUITE, 'continues after a page without blobs, also when it looks up a single blob'],
        fixed: true,
      },
    },
    {
      aspect: 'paging',
      statement: 'An empty marker in a request begins the listing again from the start.',
      ...{ link: 'https://github.com/Azure/azure-sdk-for-js/pull/5168', date: '2019-09-17' },
      evidence: {
        reason: 'An empty marker in an answer ends the listing, so the connector never sends one.',
        file: 'connectors/azureBlobStorage/listing.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'In accounts with a hierarchical namespace, a flat listing contains directories as blobs of 0 bytes.',
      ...{ link: 'https://github.com/MicrosoftDocs/azure-docs/issues/57754', date: '2020-06-24' },
      evidence: { test: [SUITE, 'lists containers page by page, and each folder once, before its contents'] },
    },
    {
      aspect: 'listing',
      statement: 'A client that ignores all blobs of 0 bytes, to ignore directories, loses empty files.',
      ...{ link: 'https://github.com/apache/arrow-rs-object-store/issues/85', date: '2024-03-01' },
      evidence: {
        reason: 'Directories are recognised by the resource type, not by the size.',
        file: 'connectors/azureBlobStorage/listing.ts',
      },
    },
    {
      aspect: 'listing',
      statement: 'Without a hierarchical namespace, file systems store an empty blob with metadata for each folder.',
      ...{ link: 'https://github.com/Azure/azure-storage-fuse/issues/1223', date: '2023-08-10' },
      evidence: {
        test: [SUITE, 'omits the empty blobs that file systems store for folders, whatever metadata other blobs have'],
        fixed: true,
      },
    },
    {
      aspect: 'formats',
      statement: 'Names with characters that XML cannot contain are percent-encoded; a client read them as Base64.',
      ...{ link: 'https://github.com/Azure/azure-sdk-for-go/pull/21342', date: '2023-08-09' },
      evidence: {
        test: [
          SUITE,
          'lists and reads names with any characters; a name with `..` between slashes is listed, but opening it fails',
        ],
      },
    },
    {
      aspect: 'formats',
      statement: 'Archived blobs are listed, and their content is refused with 409 BlobArchived.',
      ...{ link: 'https://github.com/rclone/rclone/issues/4735', date: '2020-11-03' },
      evidence: { test: [SUITE, '%s is %s: %s'] },
    },
    {
      aspect: 'formats',
      statement: 'A blob with a customer-provided key is refused with 409 BlobUsesCustomerSpecifiedEncryption.',
      ...{ link: 'https://github.com/Azure/azure-sdk-for-net/issues/20361', date: '2021-04-13' },
      evidence: { test: [SUITE, '%s is %s: %s'], fixed: true },
    },
    {
      aspect: 'limits',
      statement: 'A firewall of the account refuses with 403 AuthorizationFailure, although the key is valid.',
      ...{ link: 'https://github.com/microsoft/AzureStorageExplorer/issues/8183', date: '2024-09-13' },
      evidence: { test: [SUITE, '%s is %s: %s'] },
    },
    {
      aspect: 'limits',
      statement:
        'A request with a wrong time is refused with the code of a wrong key; only a detail in the body distinguishes them.',
      ...{ link: 'https://github.com/Azure/azure-sdk-for-js/issues/5433', date: '2019-10-07' },
      evidence: {
        test: [SUITE, 'a signature that is too old does not count as revoked access: the clock is wrong, not the key'],
        fixed: true,
      },
    },
  ],
};
