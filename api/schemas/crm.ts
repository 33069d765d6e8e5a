/** Schemas of the CRM operations. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { named } from './reference.js';
import { orderDirection } from './enums.js';

const text = () => Joi.string().allow('');
const maybe = () => nullable(text());
const remote = () => nullable(Joi.object().unknown());
const owner = () => named('PartialOwner', wholeRecord({ id: maybe() }));
const account = () => nullable(named('PartialAccount', wholeRecord({ id: maybe() })));
const contact = () => nullable(named('PartialContact', wholeRecord({ id: maybe() })));
const times = { created_at: text(), updated_at: text(), is_deleted: Joi.boolean(), remote_data: remote() };

const opportunityStatus = () => named('OpportunityStatus', Joi.string().valid('WON', 'OPEN'));
const addresses = () =>
  Joi.array().items(
    named(
      'Address',
      wholeRecord({
        ...{ street_1: maybe(), street_2: maybe(), city: maybe(), state: maybe() },
        ...{ postal_code: maybe(), country: maybe(), address_type: maybe() },
      }),
    ),
  );
const phoneNumbers = () =>
  Joi.array().items(named('PhoneNumber', wholeRecord({ phone_number: text(), phone_number_type: maybe() })));
const emails = () => Joi.array().items(named('Email', wholeRecord({ email: text(), email_type: maybe() })));

const whom = { owner: owner(), account: account(), contact: contact() };
const task = named(
  'Task',
  wholeRecord({
    ...{ id: text(), ...whom, subject: maybe(), description: maybe(), priority: maybe(), status: maybe() },
    ...times,
  }),
);
const event = named(
  'Event',
  wholeRecord({
    ...{ id: text(), ...whom, subject: maybe(), description: maybe(), location: maybe(), is_all_day: Joi.boolean() },
    ...{ start_date: maybe(), end_date: maybe() },
    ...times,
  }),
);

/** A record with its optional related data, which is included on request. */
const record = (fields: Record<string, Joi.Schema>) =>
  wholeRecord({ id: text(), description: maybe(), last_activity_at: maybe(), ...times, ...fields }).keys({
    tasks: nullable(Joi.array().items(task)),
    events: nullable(Joi.array().items(event)),
  });

const ORDERS = ['created_at', 'updated_at', 'name', 'last_activity_at'];
const name = () => orNull(text().max(2_048));
const id = () => orNull(text().max(100));

/** The kinds of records, by the names of their operations. */
export const CRM_OPERATIONS = {
  accounts: {
    one: 'account',
    names: { request: 'AccountsRequest', filters: 'AccountFilters', order: 'AccountsOrderBy', page: 'AccountResponse' },
    filters: { name: name(), owner_id: id() },
    orders: [...ORDERS, 'number_of_employees'],
    record: named(
      'Account',
      record({
        ...{ owner: nullable(owner()), name: maybe(), industry: maybe(), website: maybe() },
        ...{ number_of_employees: nullable(integer()), addresses: addresses(), phone_numbers: phoneNumbers() },
      }),
    ),
  },
  leads: {
    one: 'lead',
    names: { request: 'LeadsRequest', filters: 'LeadFilters', order: 'LeadsOrderBy', page: 'LeadsResponse' },
    filters: { name: name(), owner_id: id(), converted_account_id: id(), converted_contact_id: id() },
    orders: ORDERS,
    record: named(
      'Lead',
      record({
        ...{ owner: owner(), source: maybe(), status: maybe(), title: maybe(), company: maybe() },
        ...{ first_name: maybe(), last_name: maybe(), addresses: addresses(), phone_numbers: phoneNumbers() },
        ...{ emails: emails(), converted_at: maybe(), converted_account: account(), converted_contact: contact() },
      }),
    ),
  },
  contacts: {
    one: 'contact',
    names: {
      request: 'ContactsRequest',
      filters: 'ContactFilters',
      order: 'ContactsOrderBy',
      page: 'ContactsResponse',
    },
    filters: { name: name(), owner_id: id(), account_id: id() },
    orders: [...ORDERS, 'title'],
    record: named(
      'Contact',
      record({
        ...{
          owner: nullable(owner()),
          account: account(),
          first_name: maybe(),
          last_name: maybe(),
          name: maybe(),
          title: maybe(),
        },
        ...{ department: maybe(), addresses: addresses(), phone_numbers: phoneNumbers(), emails: emails() },
      }),
    ),
  },
  opportunities: {
    one: 'opportunity',
    names: {
      request: 'OpportunitiesRequest',
      filters: 'OpportunityFilters',
      order: 'OpportunitiesOrderBy',
      page: 'OpportunitiesResponse',
    },
    filters: {
      ...{ owner_id: id(), account_id: id(), stage: orNull(text().max(255)) },
      status: orNull(opportunityStatus()),
    },
    orders: [...ORDERS, 'amount', 'close_date'],
    record: named(
      'Opportunity',
      record({
        ...{ owner: owner(), name: maybe(), amount: nullable(integer()), account: account() },
        ...{ contact: contact(), stage: maybe(), status: nullable(opportunityStatus()), close_date: maybe() },
      }),
    ),
  },
} as const satisfies Record<
  string,
  {
    readonly one: string;
    /** Names of its schemas in the reference. */
    readonly names: Readonly<Record<'request' | 'filters' | 'order' | 'page', string>>;
    readonly filters: Record<string, Joi.Schema>;
    readonly orders: readonly string[];
    readonly record: Joi.ObjectSchema;
  }
>;
export type CrmOperation = keyof typeof CRM_OPERATIONS;

export const crmIncludes = () =>
  Joi.array()
    .items(named('BaseIncludes', Joi.string().valid('Tasks', 'Events')))
    .unique();
/** Default and maximum number of records per page. */
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const MAX_CURSOR = 4_096;

/** The body of a live list of CRM records of one kind. */
export const crmListing = (kind: CrmOperation) =>
  named(
    CRM_OPERATIONS[kind].names.request,
    Joi.object({
      data_source_id: integer().required(),
      include_remote_data: Joi.boolean().default(false),
      next_cursor: orNull(text().max(MAX_CURSOR)),
      page_size: orNull(integer().min(1).max(MAX_PAGE_SIZE), PAGE_SIZE),
      order_by: orNull(named(CRM_OPERATIONS[kind].names.order, Joi.string().valid(...CRM_OPERATIONS[kind].orders))),
      order_dir: orNull(orderDirection(), 'asc'),
      includes: crmIncludes().default([]),
      filters: named(CRM_OPERATIONS[kind].names.filters, Joi.object(CRM_OPERATIONS[kind].filters)).default({}),
    }),
  );
