import { KEY_VARIABLE, type SampleRequest } from './request.js';

/** Returns a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const OUTPUT = { json: [], bytes: ['--output content'], events: ['--no-buffer'] } as const;

/** Returns a request as a curl command for a POSIX shell. */
export function curlSample({ method, url, sendsKey, headers, body, file, answer }: SampleRequest): string {
  const isUsual = method === (body === undefined && file === null ? 'GET' : 'POST');
  return [
    `curl ${isUsual ? '' : `--request ${method} `}${quoted(url)}`,
    ...(sendsKey ? [`--header "Authorization: Bearer $${KEY_VARIABLE}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quoted(JSON.stringify(body, null, 2))}`]),
    ...(file === null ? [] : [`--form ${quoted(`file=@"${file}"`)}`]),
    ...OUTPUT[answer],
  ].join(' \\\n  ');
}
