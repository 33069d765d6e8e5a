/** Schemas of the events of webhooks for the API reference: what each event contains, and when it is sent. */
import Joi from 'joi';

import { EVENT_KINDS, eventBody, type EventInfo, type EventKind, type EventObjectType } from '../../contract/events.js';
import { nullable } from './fields.js';
import { extension, named } from './reference.js';

const text = () => Joi.string().allow('');

/** Additional fields of events, by name. Booleans are texts. */
const INFO = {
  request_id: () =>
    nullable(text()).description(
      'Id of the request that led to the event: the `request_id` that you sent, or one that the server created. Null if no request led to it.',
    ),
  upload_id: () =>
    nullable(text()).description(
      'Id of the upload that created the files, by which `upload_ids` of `POST /user_files_v2` filters. Null for files from the web and from connected accounts.',
    ),
  is_resync: () =>
    Joi.string().valid('True', 'False').description('`True` if the file was synced before, else `False`.'),
  sync_error_message: () =>
    nullable(text()).description(
      'Why the file failed or waits, and what to do next, as a sentence for people. Null if no reason is known.',
    ),
  sparse_vector_queue_status: () =>
    named(
      'SparseVectorStatus',
      Joi.string()
        .valid('queued', 'aborted', 'failed')
        .description(
          '`queued`: the sparse vectors are still to be created. `aborted`: the sync of the file was cancelled. `failed`: the sync failed. The event FILE_READY reports their success.',
        ),
    ).description(
      'State of the sparse vectors: `queued`, `failed`, or `aborted` because the sync of the file was cancelled.',
    ),
  reason: () =>
    text().description(
      'Why the files were not processed: the name of the option that excluded them, such as `skip_file_processing`, or a sentence that says what to do.',
    ),
  data_source_id: () =>
    Joi.string().description(
      '`id` of the data source to which `items` belong, as text, such as `17`. Present only with `items`.',
    ),
  items: () =>
    Joi.array()
      .items(
        named(
          'LeftOutItem',
          Joi.object({
            external_id: text()
              .required()
              .description('Id of the item at its source, as the request named it or a listing found it.'),
            name: text()
              .required()
              .description(
                'Name of the item as its source shows it, such as `Floor plan.dwg`. Names may repeat; `external_id` is unique.',
              ),
          }).description(
            'An item of a connected account that does not become a file. The `reason` field of the event contains the cause.',
          ),
        ),
      )
      .description(
        'Up to 100 items of the account that do not become files. An event with `items` is about no files, so its `object_id` is `[]`.',
      ),
} as const satisfies Record<string, () => Joi.Schema>;
type InfoField = keyof typeof INFO;

/** What additional fields contain, in short. */
const INFO_TEXTS: Readonly<Record<InfoField, string>> = {
  request_id: 'the request that led to the event',
  upload_id: 'the upload that created the files, or null',
  is_resync: 'the text `True` or `False`: whether the file was synced before',
  sync_error_message: 'why the file failed, or why it waits',
  sparse_vector_queue_status: 'state of its sparse vectors',
  reason: 'why the files were not processed',
  data_source_id: 'the data source of `items`, as a text',
  items: 'items that do not become files',
};

/** Values of additional fields in examples. */
const INFO_EXAMPLES: Readonly<Record<InfoField, EventInfo[string]>> = {
  request_id: '7d9f2c1e-4b3a-4e8f-9c6d-2a1b0c3d4e5f',
  upload_id: null,
  is_resync: 'False',
  sync_error_message: 'The site answered HTTP 404. Check the address.',
  sparse_vector_queue_status: 'queued',
  reason: 'skip_file_processing',
  data_source_id: '3',
  items: [{ external_id: 'F12', name: 'Floor plan.dwg' }],
};

interface EventText {
  /** When the event is sent: a sentence in Markdown. */
  readonly when: string;
  /** Additional fields. */
  readonly info?: readonly InfoField[];
  /** Additional fields that only some events of the kind have. */
  readonly optionalInfo?: readonly InfoField[];
}

const OF_UPLOAD = ['request_id', 'upload_id'] as const;

/** Every kind of event. */
export const EVENT_TEXTS: Readonly<Record<EventKind, EventText>> = {
  FILES_CREATED: {
    when: 'Records of files were created. For a scrape, one event reports the parent file, and later ones report its pages, up to 500 in each event. Pages that were known before are not included.',
    info: OF_UPLOAD,
  },
  ALL_UPLOADED_FILES_QUEUED: {
    when: 'All files of a request are known and queued: an upload, the pages of a scrape, or items of a connected account. A scheduled sync sends it only at its end. `object_id` is the request id.',
    info: OF_UPLOAD,
  },
  FILE_SYNCING: {
    when: 'The processing of a file began, after it waited in the queue. Each further attempt sends the event again.',
    info: ['request_id'],
  },
  FILE_READY: {
    when: 'A file, or a scrape as a whole, ended with success: its content can be searched.',
    info: ['is_resync', 'request_id'],
  },
  FILE_ERROR: {
    when: 'A file, or a scrape as a whole, failed. `sync_error_message` says why and what to do.',
    info: ['sync_error_message', 'request_id'],
  },
  RATE_LIMIT_ERROR: {
    when: 'A site or a source limits the requests of this service. The file is RATE_LIMITED and continues automatically.',
    info: ['sync_error_message', 'request_id'],
  },
  FILE_SYNC_LIMIT_REACHED: {
    when: 'A limit of the user, or `max_tokens` of the run, stopped files of a request. `object_id` is the request id.',
    info: OF_UPLOAD,
  },
  FILES_SKIPPED: {
    when: 'Files were not processed: `skip_file_processing` or `incremental_sync` excluded them, or their run was cancelled. It also reports items of an account that cannot become files, such as drafts and links, in `items`.',
    info: ['reason', ...OF_UPLOAD],
    optionalInfo: ['data_source_id', 'items'],
  },
  FILE_DELETED: {
    when: 'A file was deleted: by a request with `send_webhook: true`, or because it vanished at its source.',
    info: ['request_id'],
  },
  ALL_FILES_PROCESSED: {
    when: 'Every file of a request is in a final state. It is the last event of the request; `object_id` is the request id.',
    info: OF_UPLOAD,
  },
  SPARSE_VECTOR_QUEUE_STATUS: {
    when: 'The sparse vectors of a file were queued, failed, or were aborted because its sync was cancelled. FILE_READY reports their success.',
    info: ['sparse_vector_queue_status', 'request_id'],
  },
  FILE_STATISTICS_AGGREGATED: {
    when: 'The aggregation that `POST /organization/statistics` started has ended. `GET /organization` returns the new totals.',
  },
  MOVED_TO_COLD_STORAGE: {
    when: 'Vectors of files were moved to cold storage, up to 200 files in each event. Searches do not find these files until their vectors are moved back.',
    info: OF_UPLOAD,
  },
  MOVED_TO_HOT_STORAGE: {
    when: 'Vectors of files were restored from cold storage, up to 200 files in each event. Searches find these files again.',
    info: OF_UPLOAD,
  },
  EMBEDDING_STORAGE_MODIFIED: {
    when: 'The cold storage settings of files were changed, up to 500 files in each event.',
    info: OF_UPLOAD,
  },
  ADD: { when: 'An account or a feed was connected, or connected again.' },
  UPDATE: {
    when: 'A request to sync items of a connected account was accepted, from the API or from the page on which the user chooses items.',
  },
  CANCEL: {
    when: 'A user refused the consent that renews a connected account, or cancelled on the page on which items are chosen. The account is not changed.',
  },
  REVOKE: { when: 'Access to an account was revoked, by `POST /revoke_access_token` or at its source.' },
  DATA_SOURCE_READY: { when: 'The contents of a connected account were listed completely.' },
  WEBPAGE_READY: {
    when: 'A scraped page was synced. FILE_READY of the same file is sent as well.',
    info: ['is_resync', 'request_id'],
  },
  WEBPAGE_ERROR: {
    when: 'A scraped page failed. FILE_ERROR of the same file is sent as well.',
    info: ['sync_error_message', 'request_id'],
  },
  WEBSCRAPE_URLS_READY: {
    when: 'All addresses of a scrape are known and queued. `object_id` is the id of its parent file.',
    info: ['request_id'],
  },
  ORGANIZATION_USER_DELETED: { when: 'The data of a deleted end user is erased. `object_id` is the id of the user.' },
  CHECKUP: { when: 'Reserved: this version does not send it.' },
};

const idText = (description: string) => () => Joi.string().description(description);

/** Schema of `object_id` by the type of the object. */
const OBJECT_IDS: Readonly<Record<EventObjectType, () => Joi.Schema>> = {
  CHUNK_LIST: idText('No event of this version has this object.'),
  DATA_SOURCE: idText(
    '`id` of the data source as text, such as `17`. `POST /user_data_sources` takes it as a number in `ids`.',
  ),
  FILE: idText('`id` of the file as text, such as `17`. `POST /user_files_v2` takes it as a number in `ids`.'),
  ORGANIZATION_USER: idText(
    '`id` of the deleted end user as text, such as `17`. `customer_id` is your id of the user.',
  ),
  UPLOAD_REQUEST_ID: idText(
    '`request_id` of the request. `GET /sync_runs` and `request_ids` of `POST /user_files_v2` filter by it.',
  ),
  WEBPAGE: idText(
    '`id` of the file of the page as text, such as `17`; in `WEBSCRAPE_URLS_READY`, of the parent file of the scrape.',
  ),
  // Generators of clients do not know a type that is only null.
  NONE: () => nullable(Joi.string()).description('Always null: the event is about the organization as a whole.'),
  FILE_LIST: () =>
    Joi.array()
      .items(Joi.string())
      .description(
        'Values of `id` of the files, each as text, such as `17`. `POST /user_files_v2` takes them as numbers in `ids`.',
      ),
};

/** Returns the body of an example delivery as parsed JSON. The code that writes real deliveries creates it. */
export function exampleDelivery(kind: EventKind): unknown {
  const { info = [] } = EVENT_TEXTS[kind];
  const type = EVENT_KINDS[kind];
  const body = eventBody(
    {
      kind,
      customerId: type === 'NONE' ? '' : 'customer-42',
      objectId: type === 'NONE' ? null : type === 'FILE_LIST' ? ['17', '18'] : '17',
      info: info.length === 0 ? null : Object.fromEntries(info.map((field) => [field, INFO_EXAMPLES[field]])),
      at: new Date('2026-01-15T09:30:00.000Z'),
    },
    (id) => ({ workflow_id: id ?? null, workflow_url: null }),
  );
  return JSON.parse(body);
}

/** Additional fields of any event: those of all kinds, each of which may be absent. */
export const anyInformation = named(
  'EventInformation',
  Joi.object(Object.fromEntries(Object.entries(INFO).map(([field, schema]) => [field, schema()])))
    .unknown()
    .description(
      'Details of an event. Its `webhook_type` determines which fields are present. Booleans and numbers are sent as texts, such as `True` or `3`.',
    ),
);

/** Returns the name of a schema: `FILE_READY` and `Payload` → `FileReadyPayload`. */
export const nameOf = (kind: EventKind, part: string): string =>
  kind.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase()) + part;

/** Returns a kind of event with its article: `ADD` → `an ADD event`. */
const oneEvent = (kind: EventKind): string => `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind} event`;

const LIST = new Intl.ListFormat('en-GB');

function infoOf(kind: EventKind): Joi.Schema {
  const { info = [], optionalInfo = [] } = EVENT_TEXTS[kind];
  if (info.length === 0)
    return Joi.string()
      .valid('null')
      .description('Always the string `"null"`, not a JSON null: this event has no additional information.');
  const fields = [...info, ...optionalInfo].map((field) => `\`${field}\` (${INFO_TEXTS[field]})`);
  const details = LIST.format(fields);
  return named(
    nameOf(kind, 'Information'),
    Joi.object({
      ...Object.fromEntries(info.map((field) => [field, INFO[field]().required()])),
      ...Object.fromEntries(optionalInfo.map((field) => [field, INFO[field]()])),
    }).description(`Details that ${oneEvent(kind)} has in \`additional_information\`: ${details}.`),
  ).description(`Details of the event: ${details}.`);
}

/** What an event is about, by the type of its object. */
const ABOUT: Readonly<Record<EventObjectType, string>> = {
  CHUNK_LIST: 'chunks',
  DATA_SOURCE: 'a connected account or feed',
  FILE: 'a file',
  FILE_LIST: 'a list of files',
  NONE: 'the organization as a whole',
  ORGANIZATION_USER: 'an end user',
  UPLOAD_REQUEST_ID: 'a request and all of its files',
  WEBPAGE: 'a scraped page',
};
/** Returns what an event of a kind is about: `a file`. */
export const aboutEvent = (kind: EventKind): string => ABOUT[EVENT_KINDS[kind]];

/** Returns the schema of the document in the `payload` of a delivery. */
export const webhookPayload = (kind: EventKind): Joi.Schema => {
  const type = EVENT_KINDS[kind];
  const objectId = OBJECT_IDS[type];
  return named(
    nameOf(kind, 'Payload'),
    Joi.object({
      webhook_type: Joi.string()
        .valid(kind)
        .required()
        .description(`Type of the event, which determines the fields of \`obj\`. Always \`${kind}\` here.`),
      obj: named(
        nameOf(kind, 'Object'),
        Joi.object({
          object_type: Joi.string()
            .valid(type)
            .required()
            .description(`Type of the object that \`object_id\` identifies. Always \`${type}\` in ${oneEvent(kind)}.`),
          object_id: objectId().required(),
          additional_information: infoOf(kind).required(),
        }).description(`What ${oneEvent(kind)} is about: type and id of ${ABOUT[type]}, with details of the event.`),
      )
        .required()
        .description(`What the event is about: type and id of ${ABOUT[type]}, with details of the event.`),
      customer_id: text()
        .required()
        .description(
          'The `customer-id` of the end user, your id of that user. Empty for events about the whole organization.',
        ),
      timestamp: Joi.string()
        .required()
        .description('When the event occurred, not when it is sent: seconds since 1970, as text.'),
      workflow_id: extension(
        Joi.string().description(
          'Id of the Temporal workflow that caused the event, by which the operator finds it in Temporal. Absent if there is none.',
        ),
      ),
      workflow_url: extension(
        nullable(Joi.string()).description(
          "Address of the workflow `workflow_id` in Temporal's Web UI. Absent if there is no workflow, null if the server setting `TEMPORAL_UI_URL` is not set.",
        ),
      ),
    }).description(`Content of \`payload\` in ${oneEvent(kind)}. ${EVENT_TEXTS[kind].when}`),
  );
};
