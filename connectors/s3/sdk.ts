import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

import { Fault } from '../../contract/failures.js';
import type { AccountClient, Refusal } from '../accountClient.js';
import { regionIn } from './refusals.js';
import { headerToken } from '../bearer.js';

/** The SDK is large, so it is loaded with the first call to a store. */
const loadSdk = () => import('@aws-sdk/client-s3');
type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Credentials supplied by the caller. */
export interface S3Credentials {
  readonly accessKey: string;
  readonly accessKeySecret: string;
  /** URL of an S3-compatible store, or of an AWS region; null: AWS. */
  readonly endpointUrl: string | null;
}

const AMAZON_ENDPOINT = /^https:\/\/s3(?:[.-]([a-z0-9-]+))?\.amazonaws\.com$/;
/** The default region of S3-compatible stores. */
const DEFAULT_REGION = 'us-east-1';

/** A request signed by the SDK. */
interface SignedRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Thrown if the bucket is in another region. */
class OtherRegion extends Error {
  readonly region: string;
  constructor(region: string) {
    super(`The bucket is in ${region}`);
    this.region = region;
  }
}

const escape = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Builds the URL of a signed request. @throws Fault if URL normalization would change the key to another object's */
function urlOf({ protocol, hostname, port, path, query = {} }: SignedRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? ''].flat().map((element) => `${escape(name)}=${escape(element)}`),
  );
  const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
  const url = `${origin}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
  if (new URL(url).pathname !== path)
    throw new Fault(
      'bad_response',
      'An object whose key has `.` or `..` between slashes cannot be requested. Copy it to another key.',
    );
  return url;
}

/** Creates an SDK client for one region. It signs requests and parses answers; our client sends the requests. */
function sdkIn(
  sdk: Sdk,
  region: string,
  client: AccountClient<S3Credentials>,
  { isContent, isLast }: { readonly isContent: boolean; readonly isLast: boolean },
): S3Client {
  const { accessKey, accessKeySecret, endpointUrl } = client.credentials;
  const endpoint = endpointUrl ?? client.urls['api'] ?? '';
  const isAmazon = AMAZON_ENDPOINT.test(endpoint);
  return new sdk.S3Client({
    region,
    endpoint: isAmazon ? `https://s3.${region}.amazonaws.com` : endpoint,
    forcePathStyle: !isAmazon,
    credentials: { accessKeyId: headerToken(accessKey), secretAccessKey: accessKeySecret },
    // Our client does the waiting and retrying, for all requests of the account.
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    // Responses are decompressed before the SDK receives them, so their checksums would not match.
    responseChecksumValidation: 'WHEN_REQUIRED',
    disableS3ExpressSessionAuth: true,
    requestHandler: {
      async handle(request: SignedRequest) {
        const otherRegion = (refusal: Refusal): string | null => {
          const other = isLast ? null : regionIn(refusal);
          return other === region ? null : other;
        };
        const { status, headers, bytes } = await client.send({
          url: urlOf(request),
          headers: request.headers,
          isContent,
          isExpected: (refusal) => otherRegion(refusal) !== null,
        });
        const other = otherRegion({ status, headers, body: status < 300 ? null : Buffer.from(bytes).toString() });
        if (other !== null) throw new OtherRegion(other);
        const body = Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
        return { response: { statusCode: status, headers, body } };
      },
    },
  });
}

/**
 * Calls S3 through its SDK; if the bucket is in another region, the call is repeated there.
 * @param bucket null for a call without a bucket
 * @throws Fault
 */
export async function withS3<T>(
  client: AccountClient<S3Credentials>,
  { bucket, isContent = false }: { bucket: string | null; isContent?: boolean },
  call: (s3: S3Client, commands: Sdk) => Promise<T>,
): Promise<T> {
  const endpoint = client.credentials.endpointUrl ?? client.urls['api'] ?? '';
  const place = `${endpoint} ${bucket ?? ''}`;
  // The region of a bucket is the same for all accounts. The answer to a request to a wrong region names it.
  const region =
    (client.cache.get(place) as string | undefined) ?? AMAZON_ENDPOINT.exec(endpoint)?.[1] ?? DEFAULT_REGION;
  const sdk = await loadSdk();
  const sendTo = (where: string, isLast: boolean): Promise<T> =>
    call(sdkIn(sdk, where, client, { isContent, isLast }), sdk);
  try {
    return await sendTo(region, false);
  } catch (error) {
    if (!(error instanceof OtherRegion)) throw faultOf(error, client.signal);
    const answer = await sendTo(error.region, true).catch((reason: unknown) => {
      throw faultOf(reason, client.signal);
    });
    client.cache.set(place, error.region);
    return answer;
  }
}

/** Returns Faults and abort errors unchanged; any other error means that the SDK could not parse the answer. */
function faultOf(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof Fault || signal.aborted) return error;
  return new Fault('server_error', 'S3 gave an invalid answer. The request is retried automatically.', {
    cause: error,
  });
}
