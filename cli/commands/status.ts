import { setTimeout as sleep } from 'node:timers/promises';

import type { FileRecord } from '../../contract/files/records.js';
import { type Api, knownCustomer, openApi } from '../api.js';
import { createProgressDisplay } from '../bars.js';
import { type Command, CommandError, CUSTOMER_OPTION, JSON_OPTION, URL_OPTION } from '../command.js';
import { progressLine, findFiles, nameOf, type UserWork, workOf } from '../work.js';

const DEFAULT_USERS = 10;
const FAILURES_PER_USER = 5;
const MAX_FILES_FOUND = 20;
const WATCH_EVERY_MS = 2_000;

interface Checks {
  readonly status?: string;
  readonly detail?: string;
  readonly reasons?: readonly string[];
  readonly checks?: Readonly<Record<string, { readonly ok: boolean; readonly latency_ms: number }>>;
}

async function readiness(api: Api): Promise<string> {
  const { status, body } = await api.fetchResponse<Checks>('/ready');
  if (status !== 200) return `not ready: ${body.detail ?? status}`;
  const latencies = Object.entries(body.checks ?? {}).map(([name, { latency_ms }]) => `${name} ${latency_ms} ms`);
  const figures = latencies.join(', ');
  return body.status === 'degraded' ? `degraded: ${(body.reasons ?? []).join(' ')} (${figures})` : `ready: ${figures}`;
}

interface Users {
  readonly users: readonly { readonly organization_supplied_user_id: string }[];
  readonly count: number;
}

interface Status {
  readonly ready: string;
  readonly users: number;
  readonly work: readonly UserWork[];
}

async function readStatus(api: Api, customers: readonly string[], max: number): Promise<Status> {
  const order = { order_by: 'created_at', order_dir: 'desc' };
  const request = { ...order, pagination: { limit: max }, include_count: true };
  const [ready, { users, count }] = await Promise.all([readiness(api), api.post<Users>('/list_users', request)]);
  const shown = customers.length > 0 ? customers : users.map((user) => user.organization_supplied_user_id);
  const work: UserWork[] = [];
  // Sequential, to keep the load on the service low.
  for (const customer of shown) work.push(await workOf(api, customer, FAILURES_PER_USER));
  return { ready, users: count, work };
}

/** @param isSelection whether only the users of --customer are shown */
function linesOf({ ready, users, work }: Status, isSelection: boolean): string[] {
  const failure = (file: FileRecord): string =>
    `  ${file.sync_status} · file ${file.id} · ${nameOf(file)} · ${file.sync_error_message ?? ''}`;
  return [
    ready,
    ...work.flatMap(({ customer_id, ready: done, in_progress, failed, active_files, failures }) => [
      `${customer_id}: ${done} ready, ${in_progress} in progress, ${failed} failed`,
      ...active_files.map(progressLine),
      ...failures.map(failure),
    ]),
    ...(users > work.length && !isSelection
      ? [`${users} users in total. Show more with --users, or one with --customer.`]
      : []),
  ];
}

/** Returns where the vectors of a file are, or why it has none; nothing if it is not processed yet. */
function explainVectors(file: FileRecord, chunks: number): string[] {
  const { sync_status, embedding_storage_status: storage, skip_embedding_generation, file_metadata } = file;
  const [model, properties] = Object.entries(file.embedding_properties ?? {})[0] ?? [];
  if (storage === 'COLD_STORAGE') return [`Its vectors are in ${storage}. Move them with POST /move_to_hot_storage.`];
  if (storage === 'COLD_TO_HOT')
    return [`Its vectors are being moved to HOT_STORAGE (${storage}). Searches find it after that.`];
  const move =
    storage === 'HOT_TO_COLD'
      ? [`Its vectors are being moved to COLD_STORAGE (${storage}). Searches find it until then.`]
      : [];
  if (skip_embedding_generation)
    return [...move, 'It was uploaded with skip_embedding_generation, so it has no vectors.'];
  if (sync_status !== 'READY') return move;
  if (properties?.served_by !== undefined)
    return [
      ...move,
      `Searchable with the model ${model}: ${chunks} chunks in the vector space ${properties.served_by}.`,
    ];
  const pages = file_metadata?.['pages_total'];
  if (pages !== undefined) return [`It only groups its ${Number(pages)} pages. Searches find the pages.`];
  return ['It has no vectors: only its text is stored.'];
}

/** Returns lines that explain the state of a file: why searches cannot find it, or where they find it. */
function explainState(file: FileRecord, chunks: number): string[] {
  const { id, sync_status, sync_error_message } = file;
  const explanations = [...(sync_error_message === null ? [] : [sync_error_message]), ...explainVectors(file, chunks)];
  return [
    `file ${id} · ${nameOf(file)} · ${file.source} · ${sync_status} · last synced ${file.last_sync ?? 'never'}`,
    ...explanations.map((line) => `  ${line}`),
    `  request ${file.request_id ?? 'none'}: search for it in Temporal's Web UI and in the logs`,
  ];
}

async function find(api: Api, customer: string, nameOrId: string) {
  const files = await findFiles(api, customer, nameOrId, MAX_FILES_FOUND);
  if (files.length === 0)
    throw new CommandError(
      `User ${customer} has no file whose id is ${nameOrId} or whose name contains it. It was never ingested, or it was deleted.`,
    );
  return Promise.all(
    files.map(async (file) => {
      const request = { filters: { ids: [file.id] }, pagination: { limit: 1 } };
      const { count } = await api.post<{ count: number }>('/list_chunks_and_embeddings', request, customer);
      return { file, chunks: count, lines: explainState(file, count) };
    }),
  );
}

export const status: Command = {
  usage: '',
  about: [
    'Shows whether the service is ready. For the newest users it shows how many files are ready, unfinished and failed, the',
    'progress of scrapes, and the causes of the latest failures. With --find it shows the state of files, and why a file is not',
    'searchable.',
  ].join('\n'),
  options: {
    watch: { about: 'Refreshes every two seconds until Ctrl-C.' },
    customer: { ...CUSTOMER_OPTION.customer, multiple: true },
    users: { value: 'NUMBER', about: `Number of newest users to show without --customer. Default: ${DEFAULT_USERS}.` },
    find: { value: 'NAME|ID', about: 'Shows files by id or by a part of their name; requires --customer.' },
    ...URL_OPTION,
    ...JSON_OPTION,
  },
  async run(call) {
    const { all, has, number, text, terminal } = call;
    const api = openApi(call);
    const customers = await Promise.all(all('customer').map((customerId) => knownCustomer(api, customerId)));
    const wanted = text('find');
    if (wanted !== undefined) {
      const found = await find(api, await knownCustomer(api, text('customer')), wanted);
      if (has('json')) return terminal.out(JSON.stringify(found.map(({ file, chunks }) => ({ ...file, chunks }))));
      for (const line of found.flatMap(({ lines }) => lines)) terminal.out(line);
      return;
    }
    const max = number('users') ?? DEFAULT_USERS;
    if (!has('watch')) {
      const now = await readStatus(api, customers, max);
      if (has('json')) return terminal.out(JSON.stringify(now));
      for (const line of linesOf(now, customers.length > 0)) terminal.out(line);
      return now.ready.startsWith('ready') ? 0 : 1;
    }
    const progressDisplay = createProgressDisplay(terminal);
    while (!terminal.stopped.aborted) {
      progressDisplay.paint(linesOf(await readStatus(api, customers, max), customers.length > 0));
      await sleep(WATCH_EVERY_MS, undefined, { signal: terminal.stopped }).catch(() => undefined);
    }
    progressDisplay.end();
  },
};
