/** Uploads decompression bombs and other malicious files together with valid files, and returns the result of each. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';

import type { FileRecord } from '../../contract/files/records.js';
import { findPort } from '../../engines/ports.js';
import { type Site, startSite } from '../emulators/site.js';
import { bookBombs } from './bookBombs.js';
import { testUser, type TestUser } from './client.js';
import { type GoodFile, goodFiles } from './goodFiles.js';
import {
  archivesForText,
  attributesDocx,
  attributesOf,
  deflatedPdf,
  embeddedArchives,
  flatBomb,
  laughingDocx,
  laughingFeed,
  loopingPdf,
  manyMembers,
  nestedArchives,
  nestedDocx,
  overlappingMembers,
} from './makeBombs.js';
import { startProcess } from './processes.js';
import { startService, type TestService } from './service.js';
import { type ResidentMemory, residentBytes, watchResident } from './watchResident.js';

const MB = 1_000_000;
const BOUNDARY = 'zeros';

/** A file that is generated while it is sent: a head, then one repeated byte. */
interface GeneratedFile {
  readonly head?: string;
  /** The repeated byte. */
  readonly byte: string;
  /** Total size in bytes, including the head. */
  readonly bytes: number;
}

type Content = Uint8Array | string | GeneratedFile;

/**
 * The expected result of a bomb. A number is the status with which the API refuses the upload; otherwise it is the
 * final status of the file. `message` matches the error message or, for READY, the text.
 */
export interface Expected {
  readonly status: number | 'SYNC_ERROR' | 'READY';
  readonly message: RegExp;
}

export interface Bomb extends Expected {
  /** Description for the test report. */
  readonly what: string;
  /** File name. */
  readonly name: string;
  readonly content: () => Content;
}

/** Sizes in bytes. */
export interface BombSizes {
  /** Unpacked size of the archive bombs and the PDF. */
  readonly unpackedBytes: number;
  /** Size of the upload that exceeds the limit for uploads. */
  readonly sentBytes: number;
  /** Size of the only line of a CSV. */
  readonly lineBytes: number;
}

/** A PDF signature followed by zero bytes. The API accepts the upload if MAX_UPLOAD_BYTES allows its size. */
export const sparseDocument = (bytes: number): Bomb => ({
  what: 'a sparse file that may be uploaded but is too large to be read',
  name: 'sparse.pdf',
  content: () => ({ head: '%PDF-1.7\n', byte: '\0', bytes }),
  status: 'SYNC_ERROR',
  message: /MAX_DOCUMENT_BYTES.*Split it/,
});

/** Returns every bomb with its expected result. */
export const bombsOf = ({ unpackedBytes, sentBytes, lineBytes }: BombSizes): readonly Bomb[] => [
  {
    what: 'a flat archive',
    name: 'flat.docx',
    content: () => flatBomb(unpackedBytes),
    status: 'SYNC_ERROR',
    message: /MAX_UNPACK_RATIO/,
  },
  {
    what: 'a flat archive with a wrong size in its header',
    name: 'wrongSize.docx',
    content: () => flatBomb(unpackedBytes, 900_000),
    status: 'SYNC_ERROR',
    message: /parts cannot be unpacked/,
  },
  {
    what: 'archives inside archives',
    name: 'nested.zip',
    content: () => nestedArchives(5, 10 * MB),
    status: 400,
    message: /ZIP archive/,
  },
  ...['docx', 'pptx', 'xlsx', 'xlsm'].map((ending) => ({
    what: `archives inside archives, named .${ending}`,
    name: `archives.${ending}`,
    content: () => nestedArchives(5, 10 * MB),
    status: 'SYNC_ERROR' as const,
    message: /not an Office file but an archive of other files.*Unpack it/,
  })),
  {
    what: 'archives inside archives in place of the text of a Word file',
    name: 'text.docx',
    content: () => archivesForText(5, 10 * MB),
    status: 'SYNC_ERROR',
    message: /broken.*save it again/,
  },
  {
    // The Word reader unpacks inserted documents (altChunk) but no embedded objects, so these archives have no effect.
    what: 'archives inside archives embedded in a Word file',
    name: 'embedded.docx',
    content: () => embeddedArchives(5, 10 * MB),
    status: 'READY',
    message: /^Words of the letter\.$/,
  },
  {
    what: 'overlapping members',
    name: 'overlapping.docx',
    content: overlappingMembers,
    status: 'SYNC_ERROR',
    message: /parts cannot be unpacked/,
  },
  {
    what: 'a million members',
    name: 'members.docx',
    content: () => manyMembers(1_000_000),
    status: 'SYNC_ERROR',
    message: /1000000 members.*MAX_ARCHIVE_ENTRIES/,
  },
  {
    what: 'a PDF that unpacks to a huge size',
    name: 'deflated.pdf',
    content: () => deflatedPdf(unpackedBytes),
    status: 'SYNC_ERROR',
    message: /PARSE_FILE_MEMORY_MB|PARSE_FILE_TIMEOUT_MS/,
  },
  {
    what: 'a PDF with a cyclic page tree',
    name: 'loop.pdf',
    content: loopingPdf,
    status: 'SYNC_ERROR',
    message: /PDF|pages|text/,
  },
  {
    what: '300,000 nested elements',
    name: 'nested.docx',
    content: () => nestedDocx(300_000),
    status: 'SYNC_ERROR',
    message: /MAX_ELEMENT_DEPTH/,
  },
  {
    what: '300,000 nested HTML tags',
    name: 'nested.html',
    content: () => `<!doctype html><p>Words at the top.</p>${'<div>'.repeat(300_000)}Words far down.`,
    status: 'SYNC_ERROR',
    message: /MAX_HTML_DEPTH.*Close its tags/,
  },
  {
    what: '100,000 attributes',
    name: 'attributes.docx',
    content: () => attributesDocx(100_000),
    status: 'SYNC_ERROR',
    message: /MAX_ELEMENT_ATTRIBUTES/,
  },
  {
    what: '100,000 HTML attributes',
    name: 'attributes.html',
    content: () => `<!doctype html><p ${attributesOf(100_000)}>Words with much to them.</p>`,
    status: 'SYNC_ERROR',
    message: /MAX_HTML_ATTRIBUTES.*Remove them/,
  },
  {
    what: 'a billion laughs',
    name: 'laughs.docx',
    content: laughingDocx,
    status: 'SYNC_ERROR',
    message: /document type/,
  },
  {
    what: 'a CSV of one very long line',
    name: 'line.csv',
    content: () => ({ byte: 'x', bytes: lineBytes }),
    status: 'SYNC_ERROR',
    message: /\(setting [A-Z_]+/,
  },
  {
    what: 'a sparse file larger than the upload limit',
    name: 'sparse.pcm',
    content: () => ({ byte: '\0', bytes: sentBytes }),
    status: 413,
    message: /MAX_UPLOAD_BYTES/,
  },
  ...bookBombs(unpackedBytes),
];

export interface BombResult {
  readonly what: string;
  readonly status: number | string;
  /** The error message, or the text of a file that is READY. */
  readonly message: string;
}

export interface BombTrial {
  readonly bombs: readonly BombResult[];
  /** The result of the feed that is an XML bomb (billion laughs). */
  readonly feed: BombResult;
  readonly good: readonly (BombResult & { readonly words: string })[];
  readonly before: Omit<ResidentMemory, 'reader'>;
  readonly peak: ResidentMemory;
  readonly tookMs: number;
}

/** A service whose API and worker are separate processes, as in production, so that their memory can be measured. */
export interface BombService {
  readonly service: TestService;
  readonly user: TestUser;
  readonly site: Site;
  /** Uploads all bombs with `good` valid files in between, and waits for the result of each. */
  run(bombs: readonly Bomb[], good: number, timeLimitMs: number): Promise<BombTrial>;
  close(): Promise<void>;
}

export async function startBombService(settings: Record<string, string>): Promise<BombService> {
  const site = await startSite({ '/feed.xml': laughingFeed() });
  const service = await startService({ ...settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
  const port = await findPort('free');
  const api = await startProcess('api/server', { ...service.env, PORT: String(port), HOST: '127.0.0.1' });
  const worker = await startProcess('worker/main', service.env);
  const url = `http://127.0.0.1:${port}`;
  const user = await testUser(url, service.apiKey, 'bombs', 20_000);
  const pids = { api: api.pid() ?? 0, worker: worker.pid() ?? 0 };
  return {
    service,
    user,
    site,
    async run(bombs, good, timeLimitMs) {
      const startedAt = performance.now();
      const files = await goodFiles(good);
      const before = { api: residentBytes(pids.api), worker: residentBytes(pids.worker) };
      const [results, most] = await watchResident(pids, () => sendAll(user, url, { bombs, files, site, timeLimitMs }));
      return { ...results, before, peak: most, tookMs: performance.now() - startedAt };
    },
    async close() {
      await Promise.all([api.stop(), worker.stop()]);
      await service.close();
      await site.close();
    },
  };
}

interface TrialInput {
  readonly bombs: readonly Bomb[];
  readonly files: readonly GoodFile[];
  readonly site: Site;
  readonly timeLimitMs: number;
}

async function sendAll(
  user: TestUser,
  url: string,
  { bombs, files, site, timeLimitMs }: TrialInput,
): Promise<Pick<BombTrial, 'bombs' | 'feed' | 'good'>> {
  await user.post('/integrations/rss_feed', { url: site.url('/feed.xml') });
  const each = Math.ceil(files.length / bombs.length);
  const sentGood: { file: GoodFile; id: number }[] = [];
  const sentBombs: { bomb: Bomb; answer: SentFile }[] = [];
  for (const [nth, bomb] of bombs.entries()) {
    const sending = send(user, url, bomb.name, bomb.content());
    const batch = files.slice(nth * each, (nth + 1) * each);
    const ids = await Promise.all(batch.map(async (file) => (await user.send(file, { chunk_size: 100 })).id));
    batch.forEach((file, at) => sentGood.push({ file, id: ids[at]! }));
    sentBombs.push({ bomb, answer: await sending });
  }
  const finalResult = async (id: number): Promise<Omit<BombResult, 'what'>> => {
    const { sync_status: status, sync_error_message: message } = await user.settled(id, timeLimitMs);
    return { status, message: message ?? (await textOf(user, id)) };
  };
  return {
    good: await inSequence(sentGood, async ({ file, id }) => ({
      what: file.name,
      words: file.words,
      ...(await finalResult(id)),
    })),
    bombs: await inSequence(sentBombs, async ({ bomb: { what }, answer }) => ({
      what,
      ...('id' in answer ? await finalResult(answer.id) : answer),
    })),
    feed: { what: 'a feed of a billion laughs', ...(await finalResult(await feedId(user))) },
  };
}

const textOf = async (user: TestUser, id: number): Promise<string> =>
  (await user.chunks({ ids: [id] })).results.map((chunk) => chunk.source_content).join('\n');

async function feedId(user: TestUser): Promise<number> {
  const { body } = await user.post<{ results: FileRecord[] }>('/user_files_v2', {
    filters: { source: 'RSS_FEED', root_files_only: true },
  });
  const [feed] = body.results;
  if (!feed) throw new Error('the feed has no file');
  return feed.id;
}

async function inSequence<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

type SentFile = { readonly id: number } | { readonly status: number; readonly message: string };

async function send(user: TestUser, url: string, name: string, content: Content): Promise<SentFile> {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) return sendGenerated(user, url, name, content);
  const { status, body } = await user.upload({ name, content }, { skip_embedding_generation: true });
  return status === 200 ? { id: body.id } : { status, message: JSON.stringify(body) };
}

/** Sends a generated file as a form without Content-Length, until it is complete or the service refuses it. */
async function sendGenerated(
  user: TestUser,
  url: string,
  name: string,
  { head = '', byte, bytes }: GeneratedFile,
): Promise<SentFile> {
  const call = httpRequest(`${url}/uploadfile?skip_embedding_generation=true`, {
    method: 'POST',
    headers: { authorization: `Token ${user.token}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  });
  // A server that has refused the request closes the connection during the upload.
  call.on('error', () => undefined);
  let refused = false;
  const answered = once(call, 'response').then(async ([response]) => {
    refused = response.statusCode !== 200;
    let text = '';
    for await (const part of response) text += String(part);
    return { status: response.statusCode as number, text };
  });
  call.write(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${head}`);
  const part = Buffer.alloc(MB, byte);
  const closed = once(call, 'close').catch(() => undefined);
  for (let sent = head.length; sent < bytes && !refused && !call.destroyed; sent += part.length)
    if (!call.write(part.subarray(0, bytes - sent)))
      await Promise.race([once(call, 'drain').catch(() => undefined), closed]);
  if (!refused) call.end(`\r\n--${BOUNDARY}--\r\n`);
  const { status, text } = await answered;
  call.destroy();
  return status === 200 ? { id: (JSON.parse(text) as FileRecord).id } : { status, message: text };
}
