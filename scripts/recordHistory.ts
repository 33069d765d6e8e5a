import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import type { FileRecord } from '../contract/files/records.js';
import { temporalNames } from '../contract/runs/temporalNames.js';
import { scheduleIds, workflowIds } from '../contract/runs/workflowIds.js';
import { startGoogleDrive } from '../test/emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../test/emulators/oauthProvider.js';
import { answerConsent, consentTo, openPage } from '../test/support/consent.js';
import { ORGANIZATION, startGitBook, TOKEN } from '../test/emulators/gitbook.js';
import { inspectMongodb } from '../store/overview/inspection.js';
import { letDaysPass } from '../test/support/coldFiles.js';
import { pictureOfWords, serveSite } from './historySite.js';
import { startService } from './service.js';
import { withoutSettings } from './withoutSettings.js';

/**
 * Folder in which this script writes histories of the current workflows, for the replay test. Do not edit a history,
 * and do not delete those of released workflows.
 */
const FOLDER = fileURLToPath(new URL('../test/workflows/histories/', import.meta.url));

/** The path of this checkout, which is removed from stack traces. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));

const withoutPaths = (json: string): string => json.replaceAll(ROOT, '');

const dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-histories-'));

const site = await serveSite();

const drive = await startGoogleDrive({ one: { name: 'one.txt', content: 'Words.' } });

const gitbook = await startGitBook({
  words: { title: 'Words', pages: { one: { title: 'One', text: 'Words.' }, two: { title: 'Two', text: 'More.' } } },
});

const service = await startService({
  env: {
    ...withoutSettings(process.env),
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: `${gitbook.settings},${drive.settings}`,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    RETRY_DELAYS_S: '1',
    DEEPGRAM_API_KEY: 'histories',
    DEEPGRAM_BASE_URL: `http://${site.host}`,
    WEBHOOK_RETRY_DELAYS_S: '1',
    COLD_SWEEP_INTERVAL_S: '1',
    TEMPORAL_UI_URL: '',
  },
  printLine: (line) => console.log(`· ${line}`),
});

try {
  const engines = JSON.parse(await readFile(path.join(dataDir, 'engines.json'), 'utf8')) as {
    temporalAddress: string;
    mongodbUri: string;
  };
  const connection = await Connection.connect({ address: engines.temporalAddress });
  const client = new Client({ connection });
  const inspection = await inspectMongodb(engines.mongodbUri);
  const { idOf } = temporalNames((await inspection.server()).deploymentId ?? '', '');
  await inspection.close();
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    'customer-id': 'histories',
    'content-type': 'application/json',
  };
  await mkdir(FOLDER, { recursive: true });

  const post = async <T>(url: string, body: unknown): Promise<T> => {
    const answer = await fetch(`${service.url}${url}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as T;
  };
  const record = async (name: string, workflowId: string): Promise<void> => {
    const handle = client.workflow.getHandle(workflowId);
    // The start may still be in the outbox.
    while (
      await handle.describe().then(
        () => false,
        () => true,
      )
    )
      await pause();
    await handle.result().catch(() => undefined);
    await writeFile(path.join(FOLDER, `${name}.json`), `${withoutPaths(historyToJSON(await handle.fetchHistory()))}\n`);
    console.log(`· recorded ${name}`);
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
  const scrape = async (name: string, body: Record<string, unknown>): Promise<FileRecord> => {
    const parent = await post<FileRecord>('/scrape_sitemap', body);
    await pause();
    if (name === 'cancelled') await client.workflow.getHandle(idOf(workflowIds.scrape(parent.id))).cancel();
    await record(`scrapeSitemap.${name}`, idOf(workflowIds.scrape(parent.id)));
    return parent;
  };
  /** Returns the first workflow of a type in Temporal's list, as soon as there is one. */
  const firstOf = async (type: string, prefix = ''): Promise<string> => {
    for (;;) {
      for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = '${type}'` }))
        if (workflowId.startsWith(idOf(prefix))) return workflowId;
      await pause();
    }
  };
  const webhook = await post<{ id: number }>('/add_webhook', { url: `http://${site.host}/hook` });
  const parent = await scrape('finished', { url: `http://${site.host}/sitemap.xml` });
  // The run reaches its token limit, is resumed with too few tokens, then without a limit. Its texts are unique: known
  // texts cost no tokens.
  const paused = await post<FileRecord>('/scrape_sitemap', {
    url: `http://${site.host}/sitemap.xml`,
    chunk_size: 3,
    chunk_overlap: 0,
    max_tokens: 0,
  });
  const pausedRunId = async (): Promise<string> => {
    const { results: found } = await post<{ results: FileRecord[] }>('/user_files_v2', {
      filters: { ids: [paused.id] },
    });
    return /\d+(?=\/resume)/.exec(found[0]?.sync_error_message ?? '')?.[0] ?? '0';
  };
  for (const maxTokens of [1, null]) {
    // A resume before the pause fails, so retry.
    const resumed = async () =>
      (
        await post<{ max_tokens?: number | null }>(`/sync_runs/${await pausedRunId()}/resume`, {
          max_tokens: maxTokens,
        })
      ).max_tokens;
    while ((await resumed()) !== maxTokens) await pause();
  }
  await record('scrapeSitemap.paused', idOf(workflowIds.scrape(paused.id)));
  await scrape('noSitemap', { url: `http://${site.host}/nothing.xml` });
  const { results } = await post<{ results: FileRecord[] }>('/user_files_v2', {
    filters: { parent_file_ids: [parent.id] },
  });
  const fileId = results[0]?.id ?? 0;
  await post('/resync_file', { file_id: fileId, chunk_size: 50 });
  await pause();
  await record('resyncFile.finished', idOf(workflowIds.resync(fileId)));
  const ready = await post<{ results: FileRecord[] }>('/user_files_v2', {
    filters: { parent_file_ids: [parent.id], sync_statuses: ['READY'] },
  });
  const readyId = ready.results[0]?.id ?? 0;
  await post('/create_user_file_tags', { organization_user_file_id: readyId, tags: { recorded: 'yes' } });
  await pause();
  await record('updateTags.finished', idOf(workflowIds.updateFileTags(readyId)));
  const run = await post<{ id: number }>('/files/reembed', { embedding_model: 'SOLAR_1_MINI' });
  await pause();
  await record('reembedFiles.finished', idOf(workflowIds.reembed(run.id)));
  await post('/delete_files_v2', { filters: { ids: [fileId] } });
  await pause();
  await record('deleteFiles.finished', await firstOf('deleteFiles'));
  const pending = async (): Promise<number> => {
    const answer = await fetch(`${service.url}/webhooks/${webhook.id}/deliveries?status=PENDING`, { headers });
    return ((await answer.json()) as { count: number }).count;
  };
  while ((await pending()) > 0) await pause();
  await fetch(`${service.url}/delete_webhook/${webhook.id}`, { method: 'DELETE', headers });
  await record('deliverEvents.deleted', idOf(workflowIds.deliverEvents(webhook.id)));
  await post('/organization/statistics', undefined);
  await pause();
  await record('recountFiles.finished', idOf(workflowIds.recount(1)));
  const [crawl] = await post<FileRecord[]>('/web_scrape', [{ url: `http://${site.host}/start` }]);
  await pause();
  await record('webScrape.finished', idOf(workflowIds.scrape(crawl?.id ?? 0)));
  await post('/resync_file', { file_id: crawl?.id });
  await pause();
  await client.workflow.getHandle(idOf(workflowIds.scrape(crawl?.id ?? 0))).cancel();
  await record('webScrape.cancelled', idOf(workflowIds.scrape(crawl?.id ?? 0)));
  await post('/integrations/rss_feed', { url: `http://${site.host}/feed.xml` });
  await pause();
  const feeds = await post<{ results: FileRecord[] }>('/user_files_v2', {
    filters: { source: 'RSS_FEED', root_files_only: true },
  });
  await record('syncFeed.finished', idOf(workflowIds.feed(feeds.results[0]?.id ?? 0)));
  await post('/integrations/gitbook', { organization: ORGANIZATION, access_token: TOKEN });
  await pause();
  const sources = await post<{ results: { id: number }[] }>('/user_data_sources', { filters: { source: 'GITBOOK' } });
  const gitbookId = sources.results[0]?.id ?? 0;
  await record('syncItems.finished', idOf(workflowIds.syncItems(gitbookId)));
  await record('syncSource.finished', await firstOf('syncSource'));
  const change = { customer_ids: [headers['customer-id']], auto_sync_enabled_sources: 'ALL' };
  await fetch(`${service.url}/update_users`, { method: 'POST', headers, body: JSON.stringify(change) });
  const schedule = client.schedule.getHandle(idOf(scheduleIds.source(gitbookId)));
  while (
    await schedule.trigger().then(
      () => false,
      () => true,
    )
  )
    await pause();
  const runOf = async () => (await schedule.describe()).info.recentActions.at(-1)?.action.workflow.workflowId;
  while ((await runOf()) === undefined) await pause();
  await record('autoSync.finished', (await runOf()) ?? '');
  // A page is removed, is missing from a listing, and is restored.
  const { two: _vanished, ...remainingPages } = gitbook.spaces['words']?.pages ?? {};
  gitbook.spaces['words'] = { title: 'Words', pages: remainingPages };
  await post('/integrations/items/sync', { data_source_id: gitbookId });
  const quarantined = async (): Promise<boolean> => {
    const answer = await fetch(`${service.url}/quarantined_files`, { headers });
    const list = (await answer.json()) as { results: { state: string }[] };
    return list.results.some(({ state }) => state === 'KEPT');
  };
  while (!(await quarantined())) await pause();
  await post('/quarantined_files/restore', { data_source_id: gitbookId });
  await pause();
  await record('settleQuarantine.restored', await firstOf('settleQuarantine'));
  gitbook.tokens.clear();
  await post('/integrations/items/sync', { data_source_id: gitbookId });
  await pause();
  await record('syncItems.revoked', idOf(workflowIds.syncItems(gitbookId)));
  // One connection is completed, one has an invalid code, one is abandoned.
  const connections: string[] = [];
  const begin = async (): Promise<string> => {
    const { oauth_url: url } = await post<{ oauth_url: string }>('/integrations/oauth_url', {
      service: 'GOOGLE_DRIVE',
      connecting_new_account: true,
    });
    const before = connections.length;
    while (connections.length === before) {
      await pause();
      for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'connectByConsent'" }))
        if (!connections.includes(workflowId)) connections.push(workflowId);
    }
    return url;
  };
  const last = (): string => connections.at(-1) ?? '';
  await consentTo(await begin());
  await record('connectByConsent.finished', last());
  await openPage((await answerConsent(await begin())).replace(/code=[^&]*/, 'code=nobody'));
  await record('connectByConsent.refused', last());
  await begin();
  await client.workflow.getHandle(last()).cancel();
  await record('connectByConsent.cancelled', last());
  const upload = await post<FileRecord>('/upload_text', { contents: 'Some words that were sent.' });
  await pause();
  await record('drainUploads.finished', idOf(workflowIds.uploads(upload.organization_user_id ?? 0)));
  const send = async (name: string, content: string | Uint8Array<ArrayBuffer>): Promise<FileRecord> => {
    const form = new FormData();
    form.set('file', new Blob([content]), name);
    const { authorization, 'customer-id': customer } = headers;
    const sent = await fetch(`${service.url}/uploadfile?use_ocr=true`, {
      method: 'POST',
      headers: { authorization, 'customer-id': customer },
      body: form,
    });
    return (await sent.json()) as FileRecord;
  };
  const recording = await send('talk.mp3', 'ID3\u0003');
  await pause();
  await record('syncUpload.transcribed', idOf(workflowIds.upload(recording.id)));
  const picture = await send('words.png', pictureOfWords());
  await pause();
  await record('syncUpload.recognized', idOf(workflowIds.upload(picture.id)));
  // The vectors move to cold storage at once and are restored. Then cold storage is disabled for the file.
  const { mongodbUri } = engines;
  await post('/modify_cold_storage_parameters', {
    filters: { ids: [upload.id] },
    enable_cold_storage: true,
    hot_storage_time_to_live: 1,
  });
  await letDaysPass({ MONGODB_URI: mongodbUri }, 2, [upload.id]);
  const waitForStorage = async (status: string): Promise<void> => {
    for (;;) {
      const found = await post<{ results: FileRecord[] }>('/user_files_v2', { filters: { ids: [upload.id] } });
      if (found.results[0]?.embedding_storage_status === status) return;
      await pause();
    }
  };
  const moveOf = (prefix: string): Promise<string> => firstOf('moveStorage', prefix);
  await waitForStorage('COLD_STORAGE');
  await pause();
  await record('moveStorage.toCold', await moveOf('move-to-cold'));
  await post('/move_to_hot_storage', { filters: { ids: [upload.id] } });
  await waitForStorage('HOT_STORAGE');
  await pause();
  await record('moveStorage.toHot', await moveOf('move-to-hot'));
  await post('/modify_cold_storage_parameters', { filters: { ids: [upload.id] }, enable_cold_storage: false });
  await pause();
  await record('moveStorage.modified', await moveOf('modify-storage'));
  await scrape('cancelled', { url: `http://${site.host}/sitemap.xml`, tags: { again: true } });
  // This is the last step, because it deletes everything that the runs above created. It aborts a scrape in progress.
  await post('/scrape_sitemap', { url: `http://${site.host}/sitemap.xml` });
  await pause();
  const { id: userId } = await post<{ id: number }>('/user', { customer_id: 'histories' });
  await post('/delete_users', { customer_ids: ['histories'] });
  await pause();
  await record('deleteUser.finished', idOf(workflowIds.deleteUser(userId)));
  await connection.close();
} finally {
  site.close();
  await Promise.all([gitbook.close(), drive.close()]);
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
}
