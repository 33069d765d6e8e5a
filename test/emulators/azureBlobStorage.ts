/**
 * Emulates Azure Blob Storage on loopback, by its published REST API: accounts in the path as in Azurite, paged List
 * Containers and List Blobs, Get Blob. It verifies each Shared Key signature against the request as received.
 */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Emulator, type Refused, startEmulator } from './emulator.js';

export const ACCOUNT = 'harbour1';
export const ACCOUNT_KEY = Buffer.from('azure-secret-of-the-lighthouse+/').toString('base64');

export interface EmulatedBlob {
  content: string | Buffer;
  readonly type?: string;
  /** Only in accounts with a hierarchical namespace. */
  readonly isDirectory?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** `detail` explains a refused signature. */
type AzureRefused = Refused & { readonly code: string; readonly detail?: string };

/** The function given to `injectFault` receives the decoded path, without the account and the leading slash. */
export interface AzureEmulator extends Emulator<AzureRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Blobs by container and name; tests may change them at any time. */
  readonly containers: Map<string, Map<string, EmulatedBlob>>;
  /** Keys by account. */
  readonly keys: Map<string, string>;
  /** Number of pages without blobs at the beginning of each listing. */
  readonly empty: { pages: number };
}

const escapedXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const DECLARATION = '\uFEFF<?xml version="1.0" encoding="utf-8"?>';

function refuse(response: ServerResponse, { status, code, detail, headers = {} }: AzureRefused): void {
  const detailElement =
    detail === undefined ? '' : `<AuthenticationErrorDetail>${escapedXml(detail)}</AuthenticationErrorDetail>`;
  response
    .writeHead(status, { 'content-type': 'application/xml', 'x-ms-error-code': code, ...headers })
    .end(`${DECLARATION}<Error><Code>${code}</Code><Message>no</Message>${detailElement}</Error>`);
}

/** Headers in the order in which they are signed. */
const SIGNED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];
/** Maximum difference between the time in the request and the emulator's clock. */
const MAX_SKEW_MS = 15 * 60_000;

/** Returns the error code for a request; null if its signature is valid. */
function signatureError(
  { method, url = '', headers }: IncomingMessage,
  keys: ReadonlyMap<string, string>,
): string | null {
  const [, account = '', signature] = /^SharedKey (\w+):(.+)$/.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined) return 'NoAuthenticationInformation';
  const key = keys.get(account);
  const target = new URL(url, 'http://azure');
  const skew = Math.abs(Date.now() - Date.parse(String(headers['x-ms-date'])));
  if (key === undefined || target.pathname.split('/')[1] !== account || !(skew < MAX_SKEW_MS))
    return 'AuthenticationFailed';
  const vendorHeaders = Object.keys(headers).filter((name) => name.startsWith('x-ms-'));
  const parameters = [...new Set(target.searchParams.keys())].toSorted();
  const lines = [
    method,
    ...SIGNED.map((name) => headers[name] ?? ''),
    ...vendorHeaders.toSorted().map((name) => `${name}:${String(headers[name]).trim()}`),
    `/${account}${target.pathname}`,
    ...parameters.map((name) => `${name.toLowerCase()}:${target.searchParams.getAll(name).toSorted().join(',')}`),
  ];
  const expected = createHmac('sha256', Buffer.from(key, 'base64')).update(lines.join('\n')).digest('base64');
  return expected === signature ? null : 'AuthenticationFailed';
}

const markerOf = (from: number, emptyPagesSent: number): string =>
  Buffer.from(`${from} ${emptyPagesSent}`).toString('base64');
/**
 * Returns the page that begins at the query's marker, and the marker of the next page; '' on the last page.
 * @param emptyPages number of empty pages at the beginning of the listing
 */
function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  maxSize: number,
  emptyPages = 0,
): { page: readonly T[]; next: string } {
  const marker = Buffer.from(query.get('marker') ?? '', 'base64').toString();
  const [from = 0, emptyPagesSent = 0] = marker.split(' ').map(Number);
  if (emptyPagesSent < emptyPages) return { page: [], next: markerOf(from, emptyPagesSent + 1) };
  const size = Math.min(maxSize, Number(query.get('maxresults') ?? maxSize));
  const next = from + size < items.length ? markerOf(from + size, emptyPagesSent) : '';
  return { page: items.slice(from, from + size), next };
}

function sendList(
  response: ServerResponse,
  {
    container,
    rows,
    next,
    query,
  }: { container?: string; rows: readonly string[]; next: string; query: URLSearchParams },
): void {
  const kind = container === undefined ? 'Containers' : 'Blobs';
  const element = (name: string, text: string): string => (text === '' ? `<${name} />` : `<${name}>${text}</${name}>`);
  const parameterElements = [
    ['Prefix', 'prefix'],
    ['Marker', 'marker'],
    ['MaxResults', 'maxresults'],
  ].map(([name = '', parameter = '']) =>
    query.has(parameter) ? element(name, escapedXml(query.get(parameter) ?? '')) : '',
  );
  const containerAttribute = container === undefined ? '' : ` ContainerName="${container}"`;
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(
      `${DECLARATION}<EnumerationResults ServiceEndpoint="http://azure/"${containerAttribute}>${parameterElements.join('')}${element(kind, rows.join(''))}${element('NextMarker', next)}</EnumerationResults>`,
    );
}

const etagOf = ({ content }: EmulatedBlob): string =>
  `0x${createHash('md5').update(content).digest('hex').slice(0, 15)}`;
// Names with characters that XML cannot hold are sent encoded.
const nameOf = (name: string): string =>
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\ufffe\uffff]/.test(name)
    ? `<Name Encoded="true">${encodeURIComponent(name)}</Name>`
    : `<Name>${escapedXml(name)}</Name>`;

function blobRow(
  name: string,
  blob: EmulatedBlob,
  { query, isHierarchical }: { readonly query: URLSearchParams; readonly isHierarchical: boolean },
): string {
  const resource = isHierarchical
    ? `<ResourceType>${blob.isDirectory === true ? 'directory' : 'file'}</ResourceType>`
    : '';
  const properties = [
    '<Creation-Time>Wed, 04 Mar 2026 10:00:00 GMT</Creation-Time><Last-Modified>Wed, 04 Mar 2026 10:00:00 GMT</Last-Modified>',
    `<Etag>${etagOf(blob)}</Etag>${resource}<Content-Length>${Buffer.byteLength(blob.content)}</Content-Length>`,
    `<Content-Type>${blob.type ?? 'application/octet-stream'}</Content-Type><Content-Encoding /><BlobType>BlockBlob</BlobType>`,
    '<AccessTier>Hot</AccessTier><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>',
    '<ServerEncrypted>true</ServerEncrypted>',
  ];
  const pairs = Object.entries(blob.metadata ?? {}).map(([key, value]) => `<${key}>${escapedXml(value)}</${key}>`);
  const metadata = query.get('include')?.split(',').includes('metadata')
    ? `<Metadata>${pairs.join('')}</Metadata>`
    : '';
  return `<Blob>${nameOf(name)}<Properties>${properties.join('')}</Properties>${metadata}<OrMetadata /></Blob>`;
}

/** @param blobsPerPage largest page size, even if a request asks for more */
export async function startAzure({ containersPerPage = 2, blobsPerPage = 10 } = {}): Promise<AzureEmulator> {
  const containers = new Map<string, Map<string, EmulatedBlob>>();
  const keys = new Map([[ACCOUNT, ACCOUNT_KEY]]);
  const empty = { pages: 0 };
  const emulator = await startEmulator<AzureRefused>({
    admit({ request, response }) {
      const code = signatureError(request, keys);
      if (code !== null) refuse(response, { status: code === 'AuthenticationFailed' ? 403 : 401, code });
      return code === null;
    },
    faultTargetOf: ({ path }) => path.slice(1).join('/'),
    refuse,
    answer({ response, path: [, container = '', ...rest], query }) {
      if (container === '') {
        const { page, next } = pageOf([...containers.keys()], query, containersPerPage);
        const rows = page.map(
          (name) =>
            `<Container><Name>${name}</Name><Properties><Last-Modified>Tue, 03 Mar 2026 10:00:00 GMT</Last-Modified><Etag>"0x1"</Etag></Properties></Container>`,
        );
        return sendList(response, { rows, next, query });
      }
      const blobs = containers.get(container);
      if (!blobs) return refuse(response, { status: 404, code: 'ContainerNotFound' });
      if (query.get('comp') === 'list') {
        const isHierarchical = [...blobs.values()].some(({ isDirectory }) => isDirectory === true);
        const matching = [...blobs].filter(([name]) => name.startsWith(query.get('prefix') ?? ''));
        const sorted = matching.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        const { page, next } = pageOf(sorted, query, blobsPerPage, empty.pages);
        const rows = page.map(([name, blob]) => blobRow(name, blob, { query, isHierarchical }));
        return sendList(response, { container, rows, next, query });
      }
      const blob = blobs.get(rest.join('/'));
      if (!blob) return refuse(response, { status: 404, code: 'BlobNotFound' });
      const content = Buffer.from(blob.content);
      const headers = { 'content-type': blob.type ?? 'application/octet-stream', etag: `"${etagOf(blob)}"` };
      response.writeHead(200, { ...headers, 'content-length': content.length }).end(content);
    },
  });
  return { ...emulator, settings: `AZURE_BLOB_STORAGE.api=${emulator.origin}/{account}`, containers, keys, empty };
}
