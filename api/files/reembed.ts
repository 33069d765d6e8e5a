import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import { REEMBED_SKIP_REASONS, type ReembedSkipReason, type ReembedRequest } from '../../contract/runs/reembed.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { ApiDeps } from '../http/deps.js';
import { invalid, notFound } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { integer, nullable, orNull, timestamp } from '../schemas/fields.js';
import { fileFilters, toFileFilters } from '../schemas/listing.js';
import { estimateReembed } from './estimateReembed.js';
import { named } from '../schemas/reference.js';
import { embeddingModel } from '../schemas/enums.js';

/** Descriptions of the reasons, for the API reference. */
const REASON_TEXTS: Readonly<Record<ReembedSkipReason, string>> = {
  already_embedded: 'Number of files whose vectors are already of this model, in its current vector space.',
  being_deleted: 'Number of files whose deletion is in progress.',
  cold_storage: 'Number of files whose vectors are in cold storage or moving. Move them to hot storage first.',
  container: 'Number of feeds and parent files of scrapes. Their next sync uses the new model.',
  given_vectors: 'Number of files whose vectors a caller has uploaded. They keep them.',
  no_vectors: 'Number of files whose chunks were never embedded, and of files without chunks.',
  over_max_tokens: 'Number of files that would exceed `max_tokens` of the run. They keep their old vectors.',
  picture: 'Number of pictures whose vectors were computed from the image itself. They have no text to embed.',
  syncing: 'Number of files that a sync is processing. Repeat the request after these syncs have ended.',
};

const skipped = () =>
  named(
    'ReembedSkipped',
    Joi.object(
      Object.fromEntries(REEMBED_SKIP_REASONS.map((reason) => [reason, integer().description(REASON_TEXTS[reason])])),
    ).description('Number of files that a re-embedding leaves as they are, by reason.'),
  )
    .required()
    .description('Number of matching files that keep their vectors, by reason. Reasons without files are absent.');

/** POST /files/reembed: embeds the stored chunks of matching files with another model; texts and chunks stay. */
export const reembed = operation({
  method: 'post',
  path: '/files/reembed',
  operationId: 'reembed_files',
  tag: 'Embedding Models',
  auth: 'user',
  summary: 'Embed files with another model',
  description: [
    'Embeds the stored chunks of matching files with another model; texts and chunks stay, and nothing is fetched again. Send `dry_run: true` first to see tokens and price. Without filters it selects all files of the caller. Poll `GET /files/reembed/{reembed_id}` with the returned `id`; no event is written. Searches find the old vectors of a file until its new ones replace them. If the files have more tokens than `max_tokens`, the response is 422, and no run starts.',
  ],
  returns: 'Estimate of the work, with the `id` of the run that was accepted. For a dry run, `id` is null.',
  createsWork: true,
  body: named(
    'ReembedRequest',
    Joi.object({
      filters: fileFilters()
        .default({ include_all_children: false, non_synced_only: false })
        .description('Files to embed, combined with AND. Without filters: all files of the caller.'),
      embedding_model: embeddingModel()
        .required()
        .description('Model with which the files are embedded. Searches then find them only by this model.'),
      dry_run: Joi.boolean()
        .default(false)
        .description('`true`: return the estimate without starting a run. `id` of the response is null then.'),
      max_tokens: orNull(integer().min(0)).description(
        'Maximum number of tokens. A larger estimate returns 422; files that grow beyond it later are skipped. Null: no limit.',
      ),
    }).description('Files to embed again, and the model to embed them with.'),
  ),
  answer: named(
    'ReembedEstimate',
    Joi.object({
      id: nullable(integer())
        .required()
        .description(
          'Id of the run, for `reembed_id` in the path of `GET /files/reembed/{reembed_id}`. Null for a dry run.',
        ),
      embedding_model: embeddingModel()
        .required()
        .description('Model of the request, whose tokens and price are estimated.'),
      dry_run: Joi.boolean().required().description('`true`: only this estimate was made, and no run exists.'),
      files: integer()
        .required()
        .description('Number of files that would be embedded. Those that `skipped` counts are not included.'),
      chunks: integer()
        .required()
        .description('Number of texts that would be embedded: the stored chunks of these files.'),
      tokens: integer()
        .required()
        .description(
          'Tokens (cl100k) to embed at most, without prepended file names: overlaps count twice, and texts with reusable vectors are included.',
        ),
      known_chunks: nullable(integer())
        .required()
        .description('Number of chunks whose vectors can be reused, at no cost. Null if `chunks` is more than 5,000.'),
      price: nullable(Joi.number())
        .required()
        .description(
          'Price of `tokens` by the server setting `EMBEDDING_PRICES`, without a currency. Null if the setting has no price for the model.',
        ),
      skipped: skipped(),
    }).description('Work that a re-embedding requires, and the id of its run.'),
  ),
  async handle({ caller, body, requestId, deps }) {
    const { store, unit } = deps;
    const maxTokens = body.max_tokens ?? null;
    const request = {
      filters: toFileFilters(body.filters),
      model: body.embedding_model,
      maxTokens,
    } satisfies ReembedRequest;
    const { knownChunks, ...estimate } = await estimateReembed(caller, request, deps);
    if (!body.dry_run && maxTokens !== null && estimate.tokens > maxTokens) {
      const sentence = `The files have ${estimate.tokens} tokens. Raise max_tokens, or name fewer files`;
      throw invalid(['body', 'max_tokens'], sentence, 'greater_than_equal');
    }
    const about = { embedding_model: request.model, dry_run: body.dry_run, ...estimate, known_chunks: knownChunks };
    if (body.dry_run) return { id: null, ...about };
    const runId = await store.runs.nextId();
    const workflowId = workflowIds.reembed(runId);
    const run = { kind: 'reembedFiles', workflowId, owner: caller, fileId: null, requestId, request } as const;
    await unit.transaction((session) => store.runs.accept(runId, run, session));
    unit.start(runId);
    return { id: runId, ...about };
  },
});

/** Maximum number of files per response. */
const MAX_FAILURES = 100;

const STATUSES = ['QUEUED', 'RUNNING', 'FINISHED', 'FAILED', 'CANCELLED'] as const;

function statusOf({ startedAt, finishedAt, outcome }: RunDoc): (typeof STATUSES)[number] {
  if (finishedAt === null) return startedAt === null ? 'QUEUED' : 'RUNNING';
  if (outcome === 'aborted') return 'CANCELLED';
  return outcome === 'failed' ? 'FAILED' : 'FINISHED';
}

async function findRun(caller: UserCaller, params: Readonly<Record<string, string>>, { store }: ApiDeps) {
  const run = await store.runs.findOf(caller, pathId(params, 'reembed_id'));
  // A run without a model is a rebuild of vectors, which an operator started: it is not shown to callers.
  if (run?.kind !== 'reembedFiles' || run.request.model === null) throw notFound('run of re-embedding');
  return run;
}

async function present(run: Run<'reembedFiles'>, { store }: ApiDeps) {
  const [sums, failures] = await Promise.all([
    store.reembeds.sums(run._id),
    store.reembeds.failures(run._id, MAX_FAILURES),
  ]);
  return {
    id: run._id,
    embedding_model: run.request.model,
    status: statusOf(run),
    ...sums,
    failures: failures.map(({ fileId, message }) => ({ file_id: fileId, message })),
    requested_at: run.acceptedAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
  };
}

const progress = named(
  'ReembedProgress',
  Joi.object({
    id: integer()
      .required()
      .description(
        'Id of the run, as `POST /files/reembed` returned it: `reembed_id` in the paths that return its progress or cancel it.',
      ),
    embedding_model: embeddingModel()
      .required()
      .description(
        'Model that replaces the previous models of the files. Searches have to name it to find the finished files.',
      ),
    status: named(
      'ReembedStatus',
      Joi.string()
        .valid(...STATUSES)
        .description(
          '`QUEUED` and `RUNNING` runs continue; `FINISHED`, `FAILED` and `CANCELLED` ones have ended. A `FINISHED` run may have failed files.',
        ),
    )
      .required()
      .description(
        'Whether the run waits, is in progress, or how it ended. Poll it until it is `FINISHED`, `FAILED` or `CANCELLED`.',
      ),
    reembedded: integer()
      .required()
      .description('Number of files with new vectors so far. They keep them if the run is cancelled.'),
    failed: integer()
      .required()
      .description('Number of files that could not be embedded; they keep their old vectors.'),
    skipped: skipped(),
    chunks: integer()
      .required()
      .description('Number of texts of the finished files that have new vectors, reused vectors included.'),
    tokens: integer()
      .required()
      .description(
        'Number of tokens (cl100k) of the texts that `chunks` counts, including texts whose vectors were reused.',
      ),
    failures: Joi.array()
      .items(
        named(
          'ReembedFailure',
          Joi.object({
            file_id: integer().required().description('`id` of the file, as `POST /user_files_v2` lists it.'),
            message: Joi.string().required().description('Why the file failed and what to do next, as a sentence.'),
          }).description('A file that a re-embedding could not change, with the reason. It keeps its old vectors.'),
        ),
      )
      .required()
      .description('Up to 100 files that could not be embedded, with the reason of each.'),
    requested_at: timestamp()
      .required()
      .description('When `POST /files/reembed` accepted the run, in UTC. The work begins at `started_at`.'),
    started_at: nullable(timestamp()).required().description('When its work began; null while it is queued.'),
    finished_at: nullable(timestamp())
      .required()
      .description('When the run finished, failed or was cancelled, in UTC. Null before.'),
  }).description('State of a re-embedding, with the counts of its files and up to 100 failures.'),
);

/** GET /files/reembed/{reembed_id}: returns the progress of a run and the results of its files. */
export const reembedProgress = operation({
  method: 'get',
  path: '/files/reembed/{reembed_id}',
  operationId: 'get_reembed',
  tag: 'Embedding Models',
  auth: 'user',
  summary: 'Get the progress of a re-embedding',
  description: [
    'Returns the status of a run of `POST /files/reembed`, with the counts of its files and up to 100 failures. Poll it until `status` is `FINISHED`, `FAILED` or `CANCELLED`. Runs of other users return 404.',
  ],
  returns: 'Status of the run, with the counts of its files and the files that failed.',
  answer: progress,
  handle: async ({ caller, params, deps }) => present(await findRun(caller, params, deps), deps),
});

/** POST /files/reembed/{reembed_id}/cancel: cancels a run; each file keeps its old vectors or has its new ones. */
export const cancelReembed = operation({
  method: 'post',
  path: '/files/reembed/{reembed_id}/cancel',
  operationId: 'cancel_reembed',
  tag: 'Embedding Models',
  auth: 'user',
  summary: 'Cancel a re-embedding',
  description: [
    'Cancels a run of `POST /files/reembed`. Each file has either its old or its new vectors, never both; finished files keep the new ones. The cancellation takes a moment: poll `GET /files/reembed/{reembed_id}` until `status` is `CANCELLED`. A run that has ended is not changed.',
  ],
  returns: 'Status and counts of the run right after the request. Finished files keep their new vectors.',
  answer: progress,
  async handle({ caller, params, deps }) {
    const { _id } = await findRun(caller, params, deps);
    await deps.dispatcher.cancel(_id);
    return present(await findRun(caller, params, deps), deps);
  },
});
