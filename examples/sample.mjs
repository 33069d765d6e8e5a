/** Access tokens for the JavaScript examples, and, except for `web`, a report that is uploaded for the user `alice`. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const REPORT = new URL('../test/fixtures/documents/libreoffice/report.pdf', import.meta.url);
const { API_KEY, ALLOTROPE_URL: url = 'http://localhost:8000' } = process.env;

/** Sends a request to the service. @throws with the service's error message if the status is not 2xx */
async function call(path, headers, body) {
  const response = await fetch(`${url}${path}`, { headers, ...(body && { method: 'POST', body }) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${JSON.stringify(answer.detail)}`);
  return answer;
}

/** Returns an access token of an end user. Call this on your server only: the API key gives access to all users. */
export async function tokenOf(customerId) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'customer-id': customerId };
  return (await call('/auth/v1/access_token', headers)).access_token;
}

/** Uploads the report unless alice already has it, and waits until it can be searched. Returns URL and access token. */
export async function prepare() {
  const token = await tokenOf('alice');
  const authorization = `Token ${token}`;
  const files = async () => {
    const body = JSON.stringify({ filters: { name: 'report.pdf' } });
    return (await call('/user_files_v2', { authorization, 'content-type': 'application/json' }, body)).results;
  };
  if ((await files()).length === 0) {
    const form = new FormData();
    form.set('file', new Blob([await readFile(REPORT)]), 'report.pdf');
    await call('/uploadfile?chunk_size=100&generate_sparse_vectors=true', { authorization }, form);
  }
  for (;;) {
    const [{ sync_status: status, sync_error_message: message }] = await files();
    if (status === 'READY') return { url, token };
    if (status === 'SYNC_ERROR') throw new Error(message);
    await sleep(500);
  }
}
